import type { Page } from 'puppeteer-core';
import { describe, expect, test } from 'vitest';
import { refusedKept } from '../src/refused-log.ts';
import { photograph } from './support/browser.ts';
import {
  browserOfFile,
  consoleOfFile,
  paint,
  press,
  typeOver,
  untilSeen,
  violationsOf,
} from './support/console-page.ts';
import { firstWaba, recipient } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

/** A headless browser has no clipboard: the page copies into a variable. */
const copiesInto = (page: Page) =>
  page.evaluate('navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }; 0');

const browser = await browserOfFile();

describe.skipIf(browser === undefined)('the console', () => {
  const { simulator, tab, textOf } = consoleOfFile(browser);

  test('a refused message is a row: found by number, status and code, with its reason, remedy, dispatch and tries', async () => {
    const { page } = tab();
    const mark = { biz_opaque_callback_data: '01KAPQ5Z3M9T7V1XW2YB4C6D8E-2' };
    await simulator().send(recipient);
    await simulator().send('15550231026', mark);
    await simulator().send('15550231026', mark);
    await simulator().send('15550131026');
    await simulator().control('POST', 'clock', { advance_seconds: 5 });
    await untilSeen(page, '4 messages, 2 refused');
    const found = { '15550231026': 2, refused: 2, 'refused 131026': 2, 'failed 131026': 1, '131026 !refused': 1 };
    for (const [words, count] of Object.entries(found)) {
      await typeOver(page, 'input[type=search]', words);
      await untilSeen(page, `${count} message${count === 1 ? '' : 's'} of 4`);
    }
    await typeOver(page, 'input[type=search]', '');
    await page.select('aria/Status[role="combobox"]', 'refused');
    await untilSeen(page, '2 messages of 4');
    expect(await textOf('[role=option] .badge')).toBe('refused 131026');
    await page.click('[role=option]');
    await untilSeen(page, 'What helps:');
    expect(await textOf('.chat')).toBe('Nothing arrived: the platform refused the message');
    expect(await textOf('.reason')).toContain('(#131026) Message Undeliverable');
    expect(await textOf('.steps')).toMatch(/refused 131026.*refused 131026/s);
    const links = await page.$$eval('.facts .pairs a', (all) => all.map((link) => link.getAttribute('href')));
    expect(links).toContain('#/dispatches/5491100000001%2F01KAPQ5Z3M9T7V1XW2YB4C6D8E');
    expect(links).toContain('#/requests/3');
    expect(links).toContain('#/webhooks?q=01KAPQ5Z3M9T7V1XW2YB4C6D8E-2');
    for (const scheme of ['light', 'dark']) {
      await paint(page, scheme);
      expect(await violationsOf(page)).toEqual([]);
      await photograph(page, `inbox-refused-${scheme}`);
    }
    await page.setViewport({ width: 400, height: 900 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(400);
    await photograph(page, 'inbox-refused-narrow');
    await press(page, 'Request 3, with its answer', 'link');
    await press(page, 'In the inbox', 'link');
    await untilSeen(page, 'Nothing arrived');
  });

  test('what holds a message says so, and is removed where it is seen', async () => {
    const { page } = tab();
    const holds = async () =>
      (await simulator().control('GET', 'overview')).body.wabas.flatMap(({ holds }: { holds: object[] }) => holds);
    await simulator().control('POST', `wabas/${firstWaba}/holds`, { code: 131042 });
    await simulator().send(recipient);
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await untilSeen(page, `The platform holds the WABA ${firstWaba}`);
    await photograph(page, 'inbox-hold');
    await press(page, 'Remove the hold');
    await page.waitForFunction(`document.querySelector('.hold') === null`);
    expect(await holds()).toEqual([]);
    await simulator().control('POST', 'businesses/400000000000001/pacing', { accepts: 0 });
    await simulator().send(recipient);
    await untilSeen(page, '2 messages');
    await page.select('aria/Status[role="combobox"]', 'held');
    await untilSeen(page, '1 message of 2');
    await page.click('[role=option]');
    await press(page, 'Release all that is held');
    await untilSeen(page, 'Sent');
    await page.waitForFunction(`document.querySelector('.hold') === null`);
  });

  test('a list shows how much it has dropped, and where it starts', async () => {
    const { page } = tab();
    const most = 2 * refusedKept.throttled;
    for (let sent = 0; sent < most; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, () => simulator().send('15550230429')));
      await simulator().control('POST', 'clock', { advance_seconds: 2 });
    }
    await untilSeen(page, '1,000 older throttled sends dropped: listed since');
    await untilSeen(page, '1,000 messages, 1,000 refused');
    expect(await textOf('.missing')).toMatch(/since .*12:00:20\.$/s);
    await photograph(page, 'inbox-dropped');
    await simulator().get(`${firstWaba}/message_templates`, { limit: '1' });
    await press(page, 'Requests', 'link');
    await untilSeen(page, '2,000 requests; 1 older dropped: listed since');
  });

  test('a template is looked at, rejected, approved and paused; its quality falls', async () => {
    const { page } = tab();
    await press(page, 'Templates of the platform', 'link');
    await untilSeen(page, '135 templates');
    await typeOver(page, 'input[type=search]', 'summer_sale');
    await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`);
    await page.click('[role=option]');
    await untilSeen(page, 'Hola Ana, la liquidación de verano empieza el lunes en todas las tiendas.');
    const links = await page.$$eval('.facts a', (all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual([
      '#/inbox?q=summer_sale',
      '#/dispatches?template=summer_sale',
      '#/client-templates?q=summer_sale+es',
    ]);
    const state = async () => {
      const { body: found } = await simulator().control('GET', 'templates/1100000000000011');
      return [found.status, found.rejected_reason, found.quality];
    };
    await press(page, 'Reject');
    await untilSeen(page, 'Rejected');
    await expect.poll(state).toEqual(['REJECTED', 'PROMOTIONAL', 'UNKNOWN']);
    await press(page, 'Approve');
    await expect.poll(state).toEqual(['APPROVED', 'NONE', 'UNKNOWN']);
    await press(page, 'Yellow');
    await expect.poll(state).toEqual(['APPROVED', 'NONE', 'YELLOW']);
    await press(page, 'Pause');
    await expect.poll(state).toEqual(['PAUSED', 'NONE', 'YELLOW']);
    await press(page, 'Disable');
    await expect.poll(state).toEqual(['DISABLED', 'NONE', 'YELLOW']);
  });

  test('requests and answers, filtered', async () => {
    const { page } = tab();
    await simulator().get(`${firstWaba}/message_templates`, { limit: '1' });
    await simulator().post('nothing/messages', { to: "it's" });
    await press(page, 'Requests', 'link');
    await untilSeen(page, '2 requests');
    await typeOver(page, 'input[type=search]', 'post nothing');
    await untilSeen(page, '1 request');
    await page.click('[role=option]');
    await untilSeen(page, 'Unsupported post request');
    expect(await textOf('.exchange')).toContain("it's");
    await copiesInto(page);
    await press(page, 'Copy as curl');
    await untilSeen(page, 'Copied');
    expect(await page.evaluate('window.copied')).toContain(`-X POST ${simulator().url}/v25.0/nothing/messages`);
  });

  test('a request leads to its message, whose code is copied', async () => {
    const { page } = tab();
    const { language, components } = validSends.login_code;
    await simulator().send(recipient, { template: { name: 'login_code', language: { code: language }, components } });
    await simulator().send('15550231026');
    await page.goto(`${simulator().url}/#/requests?q=login_code`);
    await untilSeen(page, '1 request');
    await page.click('[role=option]');
    await press(page, 'Its message', 'link');
    await page.waitForSelector('button.phone-button');
    await copiesInto(page);
    await page.click('button.phone-button');
    await untilSeen(page, 'Copied');
    expect(await page.evaluate('window.copied')).toBe('482913');
    await page.goto(`${simulator().url}/#/requests?q=131026`);
    await untilSeen(page, '15550231026 · order_update · code 131026');
  });

  test('time passes, faults come and go, and any control call can be made', async () => {
    const { page, problems } = tab();
    await press(page, 'Faults and clock', 'link');
    await untilSeen(page, 'No faults: the platform works as usual.');
    await press(page, '+1 hour');
    await untilSeen(page, '3,600 seconds ahead of real time.');
    await page.focus('.other > summary');
    await page.keyboard.press('Enter');
    await typeOver(page, 'aria/Code[role="textbox"]', '130429');
    await press(page, 'Add fault');
    await untilSeen(page, 'Requests are refused with code 130429.');
    expect((await simulator().send(recipient)).body.error.code).toBe(130429);
    await press(page, 'Remove all faults');
    await untilSeen(page, 'No faults: the platform works as usual.');
    await typeOver(page, 'aria/HTTP status[role="textbox"]', 'many');
    await press(page, 'Add fault');
    await untilSeen(page, 'action.status: ');
    // The browser logs every refused request.
    expect(problems.splice(0)).toEqual([expect.stringContaining('status of 400')]);
    await page.select('aria/Call[role="combobox"]', 'GET /_control/catalogs');
    await press(page, 'Send the call');
    await untilSeen(page, 'Andes spring catalog');
  });

  test('the capabilities of a WABA, the callback address, and a webhook by hand', async () => {
    const { page } = tab();
    const wabas = async () => (await simulator().control('GET', 'overview')).body.wabas[0].fields;
    await page.goto(`${simulator().url}/#/faults`);
    await page.waitForSelector('.waba');
    await page.select('section[aria-label="Andes Retail"] > .action-line select', 'NOT_ONBOARDED');
    await expect.poll(wabas).not.toHaveProperty('marketing_messages_onboarding_status');
    await simulator().control('POST', 'wabas/200000000000001/holds', { code: 131042 });
    await untilSeen(page, 'Held, payment problem', '.waba');
    await press(page, 'Send a webhook');
    await typeOver(page, 'aria/Value, JSON', '{');
    await press(page, 'Send a webhook');
    await untilSeen(page, 'The value is no JSON');
    await typeOver(page, 'aria/Demo gateway · 500000000000001', 'http://127.0.0.1:9/hook');
    await press(page, 'Change the address');
    await expect
      .poll(async () => (await simulator().control('GET', 'overview')).body.apps[0].callback)
      .toMatchObject({ url: 'http://127.0.0.1:9/hook' });
    await simulator().control('POST', 'apps/500000000000001', { callback_url: null });
  });
});
