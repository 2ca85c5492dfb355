import { describe, expect, test } from 'vitest';
import { browserOfFile, consoleOfFile, typeOver, untilSeen, violationsOf } from './support/console-page.ts';
import { firstNumber, recipient } from './support/simulator.ts';

/*
 * The console's page of people runs in a real browser, with the simulator alone. A contract test shows it beside the
 * whole stack.
 */

const browser = await browserOfFile();
const dispatch = '01KAPQ5Z3M9T7V1XW2YB4C6D8E';
const mark = `${dispatch}-7`;
const another = '5491150000002';

describe.skipIf(browser === undefined)('the page of people', () => {
  const { simulator, tab, textOf } = consoleOfFile(browser);
  const rows = () =>
    tab().page.$$eval('[role=option]', (found) =>
      found.map((each) => (each as unknown as { innerText: string }).innerText),
    );
  const linked = () =>
    tab().page.$$eval('.links a, .pairs a', (links) => links.map((link) => (link as unknown as { hash: string }).hash));
  const answered = async () => {
    const { body } = await simulator().send(recipient, { biz_opaque_callback_data: mark });
    const [{ id }] = body.messages;
    await simulator().control('POST', `messages/${encodeURIComponent(id)}/reply`, { text: 'Where is it?' });
    await simulator().control('POST', `messages/${encodeURIComponent(id)}/reply`, { text: 'Track', payload: 'track' });
    await simulator().control('POST', `recipients/${another}/message`, { phone_number_id: firstNumber, text: 'Hola' });
    await simulator().control('POST', `recipients/${another}/preference`, {
      phone_number_id: firstNumber,
      value: 'stop',
    });
    return id as string;
  };

  test('what they did on the phone, while the page is open; each leads to its message and its dispatch', async () => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/people?show=phones`);
    await untilSeen(page, 'No answers yet');
    const id = await answered();
    await untilSeen(page, '4 answers');
    expect((await rows()).map((row) => row.replaceAll(/\s*\d\d:\d\d:\d\d\s*/g, ' ').replaceAll('\n', ' '))).toEqual([
      `+${another} Stopped marketing answers no message`,
      `+${another} Wrote “Hola” answers no message`,
      `+${recipient} Tapped “Track” order_update`,
      `+${recipient} Wrote “Where is it?” order_update`,
    ]);
    await page.select('aria/Kind[role="combobox"]', 'tap');
    await untilSeen(page, '1 answer');
    await page.click('[role=option]');
    await untilSeen(page, 'The message that it answers');
    expect(await linked()).toEqual([
      `#/dispatches/${encodeURIComponent(`5491100000001/${dispatch}`)}`,
      `#/inbox/${encodeURIComponent(id)}`,
      `#/people?show=told&q=${mark}`,
      `#/people?q=%2B${recipient}`,
    ]);
    await page.select('aria/Kind[role="combobox"]', '');
    await typeOver(page, 'input[type=search]', `${dispatch} where`);
    await untilSeen(page, '1 answer');
    expect(await violationsOf(page)).toEqual([]);
  });

  test('what the client was told: each event once, with its attempts, its dispatch and its message', async () => {
    const { page } = tab();
    const id = await answered();
    const told = { at: '2026-11-22T10:00:00.000Z', clientId: 1001, eventType: 'message.replied', dispatchId: dispatch };
    const tell = (event: string, more: object) => simulator().control('POST', 'events', { event, ...told, ...more });
    await tell('webhook.failed', { eventId: 'evt_p1', messageId: mark, attempt: 1, code: 'status_500' });
    await tell('webhook.delivered', { eventId: 'evt_p1', messageId: mark, attempt: 2 });
    await tell('webhook.delivered', { eventId: 'evt_p2', eventType: 'recipient.opted_out', attempt: 1 });
    await page.goto(`${simulator().url}/#/people?show=told&q=evt_p`);
    await untilSeen(page, '2 events');
    expect((await rows())[1]).toMatch(/^A person answered\s+delivered\s.*client 1001 · attempt 2/s);
    await typeOver(page, 'input[type=search]', `${mark} evt_p1`);
    await untilSeen(page, '1 event');
    await page.click('[role=option]');
    await untilSeen(page, 'Its message, on the phone');
    expect(await linked()).toEqual([
      '#/reference/message.replied',
      `#/dispatches/${encodeURIComponent(`5491100000001/${dispatch}`)}`,
      `#/inbox/${encodeURIComponent(id)}`,
    ]);
    expect(await textOf('.rules')).toMatch(/attempt 1\s+failed · status_500\s+.*attempt 2\s+delivered/s);
    expect(await violationsOf(page)).toEqual([]);
  });

  test('without the service it says so, and shows no empty list', async () => {
    const { page } = tab();
    await page.goto(`${simulator().url}/#/people`);
    await untilSeen(page, 'The service is not running');
    expect(await textOf('main')).not.toContain('may get marketing');
  });

  test('how many older attempts were dropped, and since when there are any', async () => {
    const { page } = tab();
    const { body } = await simulator().control('GET', 'events');
    const missing = 2_000 + 3 - body.total;
    for (let sent = 0; sent < missing; sent += 1) {
      const at = '2026-11-22T10:00:00.000Z';
      await simulator().control('POST', 'events', { event: 'webhook.delivered', at, clientId: 1001, attempt: 1 });
    }
    await page.goto(`${simulator().url}/#/webhooks`);
    await untilSeen(page, '2,000 attempts; 3 older dropped: listed since');
    expect(await textOf('.count')).toMatch(/listed since .*2026, .*:00:00$/);
  });
});
