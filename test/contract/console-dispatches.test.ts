import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HTTPRequest, Page } from '#simulator/test/browser';
import { photograph } from '#simulator/test/browser';
import { browserOfFile, openConsole, paint, press, untilSeen, violationsOf } from '#simulator/test/console-page';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';

/* The console's page of the service's own reports runs in a real browser, beside the whole stack. */

const browser = await browserOfFile();
const did = '5491100000001';
const wabaId = '200000000000001';
const personOf = (at: number) => `54944000${String(at).padStart(4, '0')}`;

interface Sending {
  readonly first: number;
  readonly count: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends for the campaign Onboarding, and returns the address of the dispatch on the page. */
async function send({ first, count, headers = {} }: Sending): Promise<string> {
  const recipients = Array.from({ length: count }, (_, at) => ({
    to: personOf(first + at),
    params: { body: ['Ana', `A-${at}`], buttons: ['A-1'] },
  }));
  const template = { name: 'order_update', language: 'en_US' };
  const body = { did, type: 'template', channel: 'MESSAGING', template, recipients, campaignId: 10 };
  const token = await tokenOf('supervisor1001');
  const reply = await api(`POST /v1/template/messages/${did}`, { token, body, headers });
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('success')]);
  return `${did}/${reply.headers.get('dispatch-id')}`;
}

const longest = 60_000;

/** Returns the texts that overflow the box of a hold, or are squeezed to less than half of it. */
const outOfHold = `[...document.querySelectorAll('.hold > *')].flatMap((each) => {
  const [box, own] = [each.parentElement.getBoundingClientRect(), each.getBoundingClientRect()];
  const isIn = own.right <= box.right && own.bottom <= box.bottom && own.width > box.width / 2;
  return isIn ? [] : [each.innerText];
})`;

describe.skipIf(browser === undefined)('the page Dispatches', () => {
  let page: Page;
  let problems: string[];
  const show = (id = '') => page.goto(`${addressOf('platformUrl')}/#/dispatches/${encodeURIComponent(id)}`);
  const pressed = (name: string) => press(page, name);
  const seen = async (text: string, where = 'main') => {
    await page.waitForSelector(where, { timeout: longest });
    await untilSeen(page, text, where);
  };
  const legend = (words: string) =>
    page.waitForFunction(
      `[...document.querySelectorAll('.legend li')].some((each) => each.innerText === ${JSON.stringify(words)})`,
      { timeout: longest },
    );

  beforeAll(async () => {
    await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
    await platform('POST /_control/service', { url: addressOf('apiUrl') });
    await synchronize('supervisor1001');
  }, 120_000);
  beforeEach(async () => {
    if (browser === undefined) return;
    const tab = await openConsole(browser, addressOf('platformUrl'));
    ({ page, problems } = tab);
  });
  afterEach(async () => {
    await page.close();
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await platform('DELETE /_control/faults');
    await platform(`DELETE /_control/wabas/${wabaId}/holds`);
    await platform('POST /_control/service', { url: null });
    await tellAt(addressOf('platformUrl'), null);
  });

  test('follows a dispatch to its end; who was not reached has a remedy, a message on the phone and a retry', async () => {
    // The cause of 132069 may pass, and that of 131026 does not.
    for (const [at, code] of [
      [2, 132069],
      [4, 131026],
    ] as const) {
      await platform('POST /_control/faults', { match: { to: personOf(at) }, action: { code }, times: 1 });
    }
    await show();
    await seen('No dispatches yet');
    const id = await send({ first: 0, count: 12 });
    await page.waitForFunction(
      `document.querySelector('[role=option] .badge')?.innerText === 'Complete' && document.querySelector('[role=option] .state-failed')`,
      { timeout: longest },
    );
    await page.focus('[role=listbox]');
    await page.keyboard.press('ArrowDown');
    await seen(id.split('/')[1] ?? '', '.pane-main');
    await seen('100 %', '.pane-main');
    await legend('Read 10');
    await legend('Failed 2');
    await pressed('Failed 2');
    const rows = () =>
      page.$$eval('.recipients tbody tr', (found) =>
        found.map((each) => (each as unknown as { innerText: string }).innerText),
      );
    await page.waitForFunction(`document.querySelectorAll('.recipients tbody tr').length === 2`, { timeout: longest });
    await seen('Message Undeliverable', '.recipients');
    expect((await rows()).map((row) => row.match(/\+\d+|\b13\d{4}\b/g))).toEqual([
      [`+${personOf(2)}`, '132069'],
      [`+${personOf(4)}`, '131026'],
    ]);
    await page.click('.recipients tbody tr:nth-child(2) summary');
    await seen('What helps:', '.recipients');
    await page.evaluate(`document.querySelector('.pane-main').scrollTo(0, 0)`);
    await photograph(page, 'dispatches-failed-light-1360');
    // The dispatch leads to its template, to its messages on the phone and to what the client was told of it.
    const links = await page.$$eval('.dispatch dl a', (found) => found.map((each) => each.getAttribute('href')));
    const dispatchId = id.split('/')[1];
    expect(links).toEqual([
      '#/client-templates?q=order_update+en_US',
      `#/inbox?q=${dispatchId}`,
      `#/webhooks?q=${dispatchId}`,
    ]);
    await seen('with Message Undeliverable (131026)', '.actions select');

    await pressed('Rehearse the retry');
    await seen('It would go to 1 recipient and cost up to', '.actions');
    await photograph(page, 'dispatches-retry-light-1360');
    await pressed('Send to 1 recipient');
    await seen('Sent once more', '.actions');
    await press(page, 'see the new dispatch', 'link');
    await seen('Retry of', '.pane-main');
    await legend('Read 1');
    await press(page, id.split('/')[1] ?? '', 'link');
    await seen('Retried by', '.pane-main');
    await seen('Onboarding · retry', '.pane-list .list');

    await pressed('Read 10');
    await page.waitForSelector(`.recipients a[href^="#/inbox/wamid"]`, { timeout: longest });
    await page.evaluate(`document.querySelector('.recipients a').click()`);
    await page.waitForFunction(`document.querySelector('.facts h2')?.innerText.includes('${personOf(0)}')`, {
      timeout: longest,
    });
  }, 300_000);

  test('one with a time of its own says when it leaves, and is cancelled by a second click', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const headers = { 'Send-At': tomorrow, 'Send-Window': '09:00-20:00', 'Send-Zone': 'Europe/Madrid' };
    const id = await send({ first: 100, count: 20, headers });
    // The id alone is what a client has from the answer to its send.
    await show(id.split('/')[1]);
    await seen('Scheduled', '.pane-main h2');
    expect(decodeURIComponent(new URL(page.url()).hash)).toBe(`#/dispatches/${id}`);
    await seen('09:00-20:00, Europe/Madrid', '.pane-main');
    await seen('Next opening', '.pane-main');
    await seen('0 of 20 · from ', '[aria-selected=true]');
    await pressed('Cancel the dispatch');
    await pressed('No, keep it');
    await legend('Pending 20');
    await pressed('Cancel the dispatch');
    await pressed('Yes, cancel what has not left');
    await seen('Cancelled: nothing more leaves', '.actions');
    await legend('Cancelled or failed 20');
    await seen('Cancelled', '.pane-main h2');
    await page.waitForFunction(`document.querySelector('[aria-selected=true] .badge')?.innerText === 'Cancelled'`, {
      timeout: longest,
    });
    await seen('20 cancelled or failed', '[aria-selected=true]');
    // What its owner wanted is not shown as trouble: nothing of the bar and of the rows has the color of a failure.
    const colors =
      (await page.evaluate(`[...document.querySelectorAll('.dispatch .state-failed, [aria-selected=true] .state-failed')]
      .map((each) => getComputedStyle(each).backgroundColor)`)) as readonly string[];
    const red = await page.evaluate(
      `getComputedStyle(document.body.appendChild(Object.assign(document.createElement('i'), { className: 'state-failed' }))).backgroundColor`,
    );
    expect(colors.length).toBeGreaterThan(3);
    expect(colors).not.toContain(red);
    // The platform was never called for them: no link leads to a phone that shows nothing.
    await seen('cancelled', '.recipients');
    expect(await page.$$eval('.recipients a', (found) => found.length)).toBe(0);
    // Only a client that names the code takes its own word back.
    await page.waitForSelector('.actions option[value=cancelled]', { timeout: longest });
    await pressed('Rehearse the retry');
    await seen('nothing of the dispatch can be retried', '.actions .problem');
    await page.select('.actions select', 'cancelled');
    await pressed('Rehearse the retry');
    await seen('It would go to 20 recipients', '.actions');
  }, 200_000);

  test('one that is held says by what, and goes on when that is opened; a campaign is cancelled as a whole', async () => {
    await platform(`POST /_control/wabas/${wabaId}/holds`, { code: 131031 });
    const id = await send({ first: 200, count: 60 });
    await show(id);
    await seen('Held', '.pane-main h2');
    await seen('131031, since', '.hold');
    await seen('What helps:', '.hold');
    for (const [scheme, width] of [
      ['light', 1_360],
      ['dark', 1_360],
      ['light', 400],
      ['dark', 400],
    ] as const) {
      await page.setViewport({ width, height: 860 });
      await paint(page, scheme);
      for (const address of [id, 'spend', '']) {
        await show(address);
        await page.waitForSelector(address === id ? '.recipients' : address === '' ? '.list' : '.figure', {
          timeout: longest,
        });
        expect(await violationsOf(page), `${address} ${scheme} ${width}`).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth'), address).toBeLessThanOrEqual(width);
        expect(await page.evaluate(outOfHold), `${address} ${width}`).toEqual([]);
        await photograph(page, `dispatches-${address === id ? 'held' : address || 'list'}-${scheme}-${width}`);
      }
    }
    await page.setViewport({ width: 1_360, height: 860 });
    await show(id);
    await pressed('Remove the hold');
    await legend('Read 60');
    await seen('Complete', '.pane-main h2');
    await seen('100 %', '.pane-main');

    const headers = { 'Send-At': new Date(Date.now() + 86_400_000).toISOString() };
    const others = [await send({ first: 300, count: 3, headers }), await send({ first: 310, count: 3, headers })];
    await pressed('Cancel all of Onboarding');
    await pressed('Yes, cancel every open dispatch of Onboarding');
    await seen('2 dispatches cancelled', '.actions');
    for (const other of others) {
      await show(other);
      await legend('Cancelled or failed 3');
    }
  }, 300_000);

  test('a dispatch of nobody says so; another client’s too', async () => {
    await show('01KAPQ5Z3M9T7V1XW2YB4C6D8E');
    await seen('No dispatch of this client has the id 01KAPQ5Z3M9T7V1XW2YB4C6D8E.');
    const id = await send({ first: 390, count: 1 });
    await page.select('.asking select', 'supervisor1002');
    await seen('No dispatches yet', '.pane-list');
    // The address without a page is that of the dispatch too.
    await page.goto(`${addressOf('platformUrl')}/#/${id.split('/')[1]}`);
    await seen(`No dispatch of this client has the id ${id.split('/')[1]}`);
  }, 120_000);

  test('the client switches a template off and on, and assigns it; the platform’s approval is another thing', async () => {
    const token = await tokenOf('supervisor1001');
    const listed = async (query: string) =>
      (await api(`GET /v1/templates?name=call_back&${query}`, { token })).body.data[0];
    await page.goto(`${addressOf('platformUrl')}/#/client-templates?q=call_back`);
    await seen('1 template', '.pane-list');
    await page.click('[role=option]');
    await pressed('Switch off for Andes Retail');
    await seen('Switched off', '.pane-main .badges');
    await seen('Approved', '.pane-main dl');
    expect(await listed('campaign_name=Unassigned')).toMatchObject({
      ...{ active: false, platform_template: { status: 'APPROVED' } },
    });
    // Without an assignment it cannot be switched on: the refusal has its remedy.
    await pressed('Switch on for Andes Retail');
    await seen('channel_unassigned', '.pane-main [role=alert]');
    await seen('What helps:', '.pane-main');
    await page.select('.pane-main .actions select', '11');
    await pressed('Assign');
    await seen('Collections', '.assignments');
    await pressed('Switch on for Andes Retail');
    await seen('Switched on', '.pane-main .badges');
    const { active, channel_campaigns: groups } = await listed('campaign_name=Collections');
    expect([active, groups[0].campaign_id, groups[0].channels[0].channel_id]).toEqual([true, 11, 501]);
    for (const [scheme, width] of [
      ['light', 1_360],
      ['dark', 1_360],
      ['light', 400],
      ['dark', 400],
    ] as const) {
      await page.setViewport({ width, height: 860 });
      await paint(page, scheme);
      expect(await violationsOf(page), `${scheme} ${width}`).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await photograph(page, `client-templates-${scheme}-${width}`);
    }
    await pressed('Take away Collections +5491100000001');
    await seen('assigned to no campaign', '.pane-main');
    await page.setViewport({ width: 1_360, height: 860 });
    await pressed('Synchronize with the platform');
    await seen('The service reads them now.', '.pane-list');
  }, 200_000);

  test('what the month has cost, by campaign and by country; another user sees the own dispatches alone', async () => {
    await send({ first: 400, count: 1 });
    await show('spend');
    await seen('Onboarding', '.spent');
    await seen('USD in ', '.spend-line');
    await pressed('Template');
    await seen('order_update en_US', '.spent');
    await pressed('Market');
    await seen('Argentina', '.spent');
    await pressed('Day');
    const token = await tokenOf('supervisor1001');
    const day = await eventually('the page has what the service tells of today', async () => {
      const { days } = (await api('GET /v1/spend', { token })).body;
      const { sent, failed, held, calls, amount } = days.at(-1);
      const cells = await page.$$eval('.days tbody tr:first-child td', (found) =>
        found.map((each) => Number(each.textContent?.replaceAll(',', ''))),
      );
      const isShown = [sent, failed, held, calls].every((count, at) => cells[at] === count);
      return isShown && Math.abs((cells[4] ?? 0) - amount) < 0.01 ? days.at(-1) : undefined;
    });
    expect(Math.min(day.sent, day.calls, day.amount)).toBeGreaterThan(0);
    await page.setViewport({ width: 400, height: 860 });
    for (const scheme of ['light', 'dark'] as const) {
      await paint(page, scheme);
      expect(await violationsOf(page), scheme).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
      expect(await page.evaluate(`document.querySelector('.days').getBoundingClientRect().right`)).toBeLessThanOrEqual(
        400,
      );
      await photograph(page, `dispatches-days-${scheme}-400`);
    }
    await page.setViewport({ width: 1_360, height: 860 });
    expect(await page.$$eval('[role=option]', (found) => found.length)).toBeGreaterThan(0);
    await page.select('.asking select', 'supervisor1002');
    await seen('No dispatches yet', '.pane-list');
    await page.select('.asking select', 'operator');
    await page.waitForSelector('.asking option[value="1001"]', { timeout: longest });
    await page.select('.asking .choice:nth-of-type(2) select', '1001');
    await page.waitForSelector('[role=option]', { timeout: longest });
    await page.select('.filters:not(.asking) .choice select', 'cancelled');
    await page.waitForFunction(
      `[...document.querySelectorAll('[role=option] .badge')].every((each) => each.innerText === 'Cancelled') && document.querySelector('[role=option]')`,
      { timeout: longest },
    );
  }, 200_000);

  test('a token that is not good any more is renewed, and a minute that is full is waited for', async () => {
    const refusals = [
      { status: 401, headers: {}, body: '{"code":"unauthorized"}' },
      { status: 429, headers: { 'retry-after': '1' }, body: '{"code":"too_many_requests"}' },
    ];
    const paths: string[] = [];
    await page.setRequestInterception(true);
    page.on('request', (request: HTTPRequest) => {
      const { path = '' } = request.url().endsWith('/service/try') ? JSON.parse(request.postData() ?? '{}') : {};
      if (path !== '') paths.push(path);
      const refusal = path.startsWith('/v1/dispatches') ? refusals.shift() : undefined;
      if (refusal === undefined) return void request.continue();
      return void request.respond({
        contentType: 'application/json',
        body: JSON.stringify({ duration_ms: 1, ...refusal }),
      });
    });
    await show();
    await page.waitForSelector('[role=option]', { timeout: longest });
    expect(refusals).toEqual([]);
    expect(paths.filter((path) => path === '/login')).toHaveLength(2);
  }, 120_000);

  test('without a service it says so, and how it is started', async () => {
    await platform('POST /_control/service', { url: null });
    await show();
    await seen('The service is not running');
    await seen('npm start');
    await platform('POST /_control/service', { url: addressOf('apiUrl') });
    await pressed('Try again');
    await page.waitForSelector('[role=option]', { timeout: longest });
    expect(await page.$('.failed')).toBeNull();
  }, 120_000);
});
