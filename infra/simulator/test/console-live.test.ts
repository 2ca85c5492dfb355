import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { closeAtOnce, openOnLoopback } from '../src/loopback.ts';
import { type Simulator, startSimulator } from '../src/server.ts';
import {
  browserOfFile,
  consoleOfFile,
  openConsole,
  press,
  typeOver,
  untilSeen,
  violationsOf,
} from './support/console-page.ts';
import { orderUpdate, recipient, templateMessage } from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

/* The world changes around the console, in a real browser: restarts, resets, other pages, and the back button. */

const browser = await browserOfFile();
const another = '5491150000002';

describe.skipIf(browser === undefined)('the console', () => {
  const { simulator, tab, textOf, sendAll } = consoleOfFile(browser);
  const see = (state: 'hidden' | 'visible') =>
    tab().page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
  let running: Simulator | undefined;
  afterEach(() => running?.stop());
  const rows = () => tab().page.$$eval('[role=option]', (found) => found.length);

  test('a reset empties the list, and forgets what was chosen', async () => {
    const { page } = tab();
    await simulator().send(recipient);
    await page.waitForSelector('[role=option]');
    await page.click('[role=option]');
    await page.waitForSelector('.bubble');
    await simulator().control('POST', 'reset');
    await untilSeen(page, 'No messages yet');
    await untilSeen(page, 'Choose a message');
    expect(await page.evaluate('location.hash')).toBe('#/inbox');
  });

  test('a hidden page holds no connection, and catches up when it is shown', async () => {
    const { page } = tab();
    await see('hidden');
    let leaving = new AbortController();
    const twentyWatch = async () => {
      // Streams of a failed attempt would take places from the next attempt.
      leaving.abort();
      leaving = new AbortController();
      const { signal } = leaving;
      const watching = Array.from({ length: 20 }, () => fetch(`${simulator().url}/_control/live`, { signal }));
      return (await Promise.all(watching)).every(({ status }) => status === 200);
    };
    // Twenty may watch, and the page is not among them.
    await expect.poll(twentyWatch).toBe(true);
    await simulator().send(recipient);
    leaving.abort();
    expect(await rows()).toBe(0);
    await see('visible');
    await untilSeen(page, '1 message');
  });

  test('a page whose connection was refused asks again', async () => {
    const { page, problems } = tab();
    await untilSeen(page, 'Live', 'header');
    const leaving = new AbortController();
    const watch = async () => (await fetch(`${simulator().url}/_control/live`, { signal: leaving.signal })).status;
    while ((await watch()) === 200);
    // All places are taken, with the page's own: once the page releases it, another watcher takes it.
    await see('hidden');
    await expect.poll(watch).toBe(200);
    await see('visible');
    await untilSeen(page, 'Not connected', 'header');
    leaving.abort();
    await untilSeen(page, 'Live', 'header');
    expect(problems.splice(0).filter((problem) => !problem.includes('status of 503'))).toEqual([]);
  });

  test('what one page changes the others see: a fault, and that it has come to its end', async () => {
    const { page } = tab();
    const { page: other, problems } = await openConsole(page.browser(), `${simulator().url}/#/faults`);
    await press(page, 'Faults and clock', 'link');
    await page.waitForSelector('.other');
    await page.focus('.other > summary');
    await page.keyboard.press('Enter');
    await typeOver(page, 'aria/Code[role="textbox"]', '130429');
    await typeOver(page, 'aria/How many[role="textbox"]', '2');
    await press(page, 'Add fault');
    await untilSeen(other, 'For 2 requests more');
    await simulator().send(recipient);
    await untilSeen(other, 'For 1 request more');
    await simulator().send(recipient);
    await untilSeen(other, 'No faults: the platform works as usual.');
    await other.select('section[aria-label="Andes Retail"] li select', 'RATE_LIMITED');
    await page.waitForFunction(`document.querySelector('.numbers .badge')?.textContent === 'Rate limited'`);
    await other.close();
    expect(problems).toEqual([]);
  });

  test('the address has the list’s filter, and the back button leads from a message to the list', async () => {
    const { page } = tab();
    const all = Object.keys(validSends).length + 1;
    await sendAll();
    await simulator().send(another, { biz_opaque_callback_data: '01KAPQ5Z3M9T7V1XW2YB4C6D8F-1' });
    await page.goto(`${simulator().url}/#/inbox?q=%2B${another}`);
    await untilSeen(page, `1 message of ${all}`);
    await page.click('[role=option]');
    await page.waitForSelector('.bubble');
    await page.goBack();
    await untilSeen(page, 'Choose a message');
    await untilSeen(page, `1 message of ${all}`);
    await page.goto(`${simulator().url}/#/inbox?q=order+!${another}`);
    await untilSeen(page, `3 messages of ${all}`);
    await page.click('[role=option]');
    await page.waitForSelector('.facts');
    await press(page, 'all its messages', 'link');
    await untilSeen(page, `${all - 1} messages of ${all}`);
    // The list keeps its state when the page is left and shown again.
    await press(page, 'Templates of the platform', 'link');
    await untilSeen(page, '135 templates');
    await press(page, 'Inbox', 'link');
    await untilSeen(page, `${all - 1} messages of ${all}`);
    expect(await page.evaluate('location.hash')).toBe('#/inbox?q=01KAPQ5Z3M9T7V1XW2YB4C6D8E');
  });

  test('by status and by the number as a person knows it; cleared, and shown again', async () => {
    const { page } = tab();
    await simulator().send(recipient);
    await simulator().send('15550131026');
    await simulator().control('POST', 'clock', { advance_seconds: 5 });
    await untilSeen(page, '2 messages');
    await page.select('aria/Status[role="combobox"]', 'failed');
    await untilSeen(page, '1 message of 2');
    expect(await textOf('[role=option]')).toContain('+15550131026');
    await page.select('aria/Status[role="combobox"]', '');
    await page.waitForFunction(`document.querySelector('.choice option:last-child').textContent.includes('Andes')`);
    expect(await textOf('.choice option:last-child')).toBe('+54 9 11 0000-0001 · Andes Retail');
    await press(page, 'Clear the list');
    await untilSeen(page, 'No messages yet');
    await simulator().send(another);
    await page.waitForFunction(`document.querySelectorAll('[role=option]').length === 1`);
    await press(page, 'Show 2 cleared');
    await untilSeen(page, '3 messages');
  });

  test('on a phone the list keeps its place and gets the keyboard back; an address brings its message into sight', async () => {
    const { page } = tab();
    for (let sent = 0; sent < 40; sent += 1) await simulator().send(`54911500001${String(sent).padStart(2, '0')}`);
    await page.setViewport({ width: 400, height: 700 });
    await untilSeen(page, '40 messages');
    const top = () => page.$eval('[role=listbox]', (list) => (list as unknown as { scrollTop: number }).scrollTop);
    await page.focus('[role=listbox]');
    await page.evaluate(`document.querySelector('[role=listbox]').scrollTop = 1520`);
    await page.waitForFunction(
      `[...document.querySelectorAll('strong')].some((e) => e.textContent === '+5491150000118')`,
    );
    await page.evaluate(
      `[...document.querySelectorAll('[role=option]')].find((e) => e.textContent.includes('5491150000118')).click()`,
    );
    await page.waitForFunction(`document.activeElement?.className === 'button back'`);
    await page.keyboard.press('Enter');
    await page.waitForFunction(`document.activeElement?.getAttribute('role') === 'listbox'`);
    expect(await top()).toBe(1_520);
    const { body: listed } = await simulator().control('GET', 'inbox');
    await page.setViewport({ width: 1_360, height: 700 });
    await page.goto('about:blank');
    await page.goto(`${simulator().url}/#/inbox/${encodeURIComponent(listed.data[35].id)}`);
    await page.waitForSelector('[role=option][aria-selected=true]');
    await page.focus('[role=listbox]');
    await page.keyboard.press('Escape');
    await untilSeen(page, 'Choose a message');
  });

  test('each attempt of the service to tell a client an event, while the page is open', async () => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/webhooks`);
    await untilSeen(page, 'No events were sent yet');
    const told = { at: '2026-11-22T10:00:00.000Z', clientId: 1001, eventId: 'evt_1', eventType: 'template.created' };
    const failed = { event: 'webhook.failed', ...told, attempt: 1, code: 'status_500', durationMs: 12 };
    expect((await simulator().control('POST', 'events', failed)).status).toBe(200);
    await untilSeen(page, 'failed · status_500');
    await simulator().control('POST', 'events', { event: 'webhook.delivered', ...told, attempt: 2, durationMs: 9 });
    await untilSeen(page, '2 attempts');
    expect(await textOf('[role=option]')).toMatch(/template\.created evt_1\s+delivered\s+.*client 1001 · attempt 2/s);
    await page.select('aria/Outcome[role="combobox"]', 'failed');
    await untilSeen(page, '1 attempt');
    await page.click('[role=option]');
    await untilSeen(page, 'Its attempts');
    expect(await textOf('.rules')).toMatch(/attempt 1\s+failed · status_500\s+.*attempt 2\s+delivered/s);
    expect(await textOf('.command')).toBe(
      'infra/ops events replay --client 1001 --since 2026-11-22T09:59:00.000Z --until 2026-11-22T10:00:00.000Z --type template.created',
    );
    await page.click('.rules li:last-child a');
    await page.waitForFunction(`document.querySelector('.exchange h2').textContent.includes('delivered')`);
    expect((await simulator().control('POST', 'events', { ...failed, event: 'webhook.cheered' })).status).toBe(400);
  });

  test('what the platform told, and what was answered', async () => {
    const { page } = tab();
    const answers = [500, 200];
    const receiver = createServer((_, outgoing) => outgoing.writeHead(answers.shift() ?? 200).end());
    const port = await openOnLoopback(receiver, 0);
    const callback_url = `http://127.0.0.1:${port}/hook`;
    await simulator().control('POST', 'apps/500000000000001', { callback_url });
    await simulator().control('POST', 'templates/1100000000000011', { status: 'APPROVED', rejected_reason: 'NONE' });
    await page.goto(`${simulator().url}/#/webhooks?by=platform`);
    await untilSeen(page, '1 post');
    await simulator().control('POST', 'clock', { advance_seconds: 2 });
    await untilSeen(page, '2 posts');
    await page.select('aria/Outcome[role="combobox"]', 'failed');
    await untilSeen(page, '1 post');
    expect(await textOf('[role=option]')).toMatch(/message_template_status_update\s+500\s+.*\/hook/s);
    await page.click('[role=option]');
    await untilSeen(page, '"event": "APPROVED"');
    expect(await violationsOf(page)).toEqual([]);
    await page.select('aria/Sent by[role="combobox"]', '');
    await untilSeen(page, 'Choose an attempt');
    await simulator().control('POST', 'apps/500000000000001', { callback_url: null });
    await closeAtOnce(receiver);
  });

  test('after another start of the simulator: what the new one has, and an answer for what had none', async () => {
    running = await startSimulator();
    const { url } = running;
    const port = Number(new URL(url).port);
    const send = (to: string) =>
      fetch(`${url}/v25.0/300000000000001/messages`, {
        method: 'POST',
        headers: { authorization: 'Bearer demo-platform-token', 'content-type': 'application/json' },
        body: JSON.stringify({ ...templateMessage('order_update', orderUpdate), to }),
      });
    const { page, problems } = await openConsole(tab().page.browser(), url);
    await send(recipient);
    await send(another);
    await untilSeen(page, '2 messages');
    await press(page, 'Templates of the platform', 'link');
    await untilSeen(page, '135 templates');
    await running.stop();
    await untilSeen(page, 'Not connected', 'header');
    await page.click('[role=option]');
    await untilSeen(page, 'The simulator does not answer.');
    running = await startSimulator({ port });
    await untilSeen(page, 'Hello Ana, your order A-1042 is on its way.');
    await press(page, 'Inbox', 'link');
    await untilSeen(page, 'No messages yet');
    await send(another);
    await expect.poll(() => page.$$eval('[role=option]', (found) => found.length)).toBe(1);
    expect(problems.filter((problem) => !problem.includes('net::ERR_'))).toEqual([]);
    await page.close();
  });
});
