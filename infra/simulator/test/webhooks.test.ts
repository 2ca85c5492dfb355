import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { callbackReceiver } from './support/callback-receiver.ts';
import { demoApp, receiverOfFile } from './support/receiver-of-file.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile } from './support/simulator.ts';

/** The recipient has this id in the portfolio of the first WABA. */
const userId = 'AR.13607919076743524463';
const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator, { secret: 'demo-app-secret' });
const { wait, told, posts } = receiver;

const receipts = (course: object, match: object = {}) => simulator.control('POST', 'receipts', { match, course });
const statuses = async () => (await told()).map(({ value }) => value.status);
const fields = async () => (await told()).map(({ field }) => field);

describe('statuses', () => {
  test('sent at once, delivered and read on its clock, with what the message carried', async () => {
    const { body } = await simulator.send(recipient, { biz_opaque_callback_data: '01ABC-7 ñ' });
    await expect.poll(() => receiver.updates().map(({ value }) => value.status)).toEqual(['sent']);
    await wait(1);
    await wait(2);
    const pricing = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' };
    const common = {
      id: body.messages[0].id,
      recipient_id: recipient,
      recipient_user_id: userId,
      biz_opaque_callback_data: '01ABC-7 ñ',
    };
    expect(receiver.updates().map(({ value }) => value)).toEqual([
      { ...common, status: 'sent', timestamp: '1795176000', pricing },
      { ...common, status: 'delivered', timestamp: '1795176001', pricing },
      { ...common, status: 'read', timestamp: '1795176003' },
    ]);
  });

  test('the envelope, signed over the very bytes, which are ASCII', async () => {
    await simulator.send(recipient, { biz_opaque_callback_data: 'ñ' });
    await wait(0);
    const [post] = posts();
    const text = post?.bytes.toString() ?? '';
    const expected = createHmac('sha256', 'demo-app-secret').update(text).digest('hex');
    expect(post?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-hub-signature-256': `sha256=${expected}`,
    });
    expect(text).toContain('"biz_opaque_callback_data":"\\u00f1"');
    expect(JSON.parse(text)).toEqual({
      object: 'whatsapp_business_account',
      entry: [
        {
          id: firstWaba,
          changes: [
            {
              field: 'messages',
              value: {
                messaging_product: 'whatsapp',
                metadata: { display_phone_number: '5491100000001', phone_number_id: firstNumber },
                contacts: [{ wa_id: recipient, user_id: userId }],
                statuses: [expect.objectContaining({ status: 'sent' })],
              },
            },
          ],
        },
      ],
    });
  });

  test('what is due together goes together, 1,000 at most', async () => {
    await receipts({ sent_after_ms: 5_000, delivered_after_ms: null, read_after_ms: null, copies: 10 });
    for (let index = 0; index < 110; index += 1) await simulator.send(String(5491150000000 + index));
    expect(posts()).toEqual([]);
    await wait(5);
    const sizes = posts().map(({ bytes }) => JSON.parse(bytes.toString()).entry[0].changes.length);
    expect(sizes).toEqual([1_000, 100]);
  });

  test('one in each POST, for receivers that read no more; a reset keeps that', async () => {
    await simulator.control('POST', `apps/${demoApp}`, { updates_per_post: 1 });
    await simulator.control('POST', 'reset');
    await receipts({ sent_after_ms: 5_000, delivered_after_ms: 5_000, read_after_ms: 5_000 });
    await simulator.send(recipient);
    await wait(5);
    const told = posts().map(({ bytes }) => JSON.parse(bytes.toString()).entry);
    expect(told.map(([entry]) => [entry.changes.length, entry.changes[0].value.statuses[0].status])).toEqual([
      [1, 'sent'],
      [1, 'delivered'],
      [1, 'read'],
    ]);
    await simulator.control('POST', `apps/${demoApp}`, { updates_per_post: null });
    receiver.forget();
    await simulator.send(recipient);
    await wait(5);
    expect(posts()).toHaveLength(1);
  });

  test.each([
    ['15550131026', 131026],
    ['15550131042', 131042],
    ['15550131049', 131049],
    ['15550131050', 131050],
    ['15550131053', 131053],
  ])('%s: accepted, and later failed with %i, nothing else', async (to, code) => {
    expect((await simulator.send(to)).body.messages[0].message_status).toBe('accepted');
    await wait(1);
    const failed = receiver.updates().map(({ value }) => [value.status, value.recipient_id, value.errors[0].code]);
    expect(failed).toEqual([['failed', to, code]]);
    await wait(3_600);
    expect(receiver.updates()).toHaveLength(1);
  });

  test('held: released after 10 minutes, or dropped', async () => {
    await simulator.send('15550000201');
    await simulator.send('15550132015');
    await simulator.send('15550000202');
    await wait(599);
    expect(receiver.updates()).toEqual([]);
    await wait(10);
    expect(receiver.updates().map(({ value }) => [value.recipient_id, value.status])).toEqual([
      ['15550000201', 'sent'],
      ['15550000201', 'delivered'],
      ['15550132015', 'failed'],
      ['15550000201', 'read'],
    ]);
  });

  test('refused, or taken with the answer lost: only what was taken has statuses', async () => {
    await simulator.send('15550231026');
    await simulator.send('15550000500');
    await expect(simulator.send('15550000200')).rejects.toThrow();
    expect((await told()).map(({ value }) => value.recipient_id)).toEqual(['15550000200']);
  });

  test.each<[string, object, readonly string[]]>([
    ['doubled', { copies: 2 }, ['sent', 'sent', 'delivered', 'delivered', 'read', 'read']],
    ['failed by rule', { fail: 131049 }, ['failed']],
  ])('by control: %s', async (_, course, expected) => {
    await receipts(course);
    await simulator.send(recipient);
    await wait(10);
    expect(await statuses()).toEqual(expected);
    await simulator.control('DELETE', 'receipts');
    receiver.forget();
    await simulator.send(recipient);
    await wait(10);
    expect(await statuses()).toEqual(['sent', 'delivered', 'read']);
  });

  test('by control: hours late, with the original time, and only for the chosen recipient', async () => {
    await receipts({ late_ms: 7_200_000 }, { to: `+${recipient}` });
    await simulator.send(recipient);
    await simulator.send('5491150000002');
    await wait(7_199);
    expect((await told()).map(({ value }) => value.recipient_id)).not.toContain(recipient);
    await wait(4);
    const late = (await told()).filter(({ value }) => value.recipient_id === recipient);
    expect(late.map(({ value }) => [value.status, value.timestamp])).toEqual([
      ['sent', '1795176000'],
      ['delivered', '1795176001'],
      ['read', '1795176003'],
    ]);
  });
});

describe('delivery', () => {
  test('an address that fails gets it again, later each time, the same bytes, and then the rest', async () => {
    receiver.answerWith(500, 302);
    await simulator.send(recipient);
    await wait(0);
    await simulator.send('5491150000002');
    await wait(1);
    await wait(2);
    const [first, second, third, fourth] = posts();
    expect(second?.bytes).toEqual(first?.bytes);
    expect(third?.bytes).toEqual(first?.bytes);
    expect(fourth?.bytes).not.toEqual(first?.bytes);
    const { body } = await simulator.control('GET', 'webhooks?limit=3');
    expect(body).toMatchObject({ due: 0, given_up: 0 });
    expect(body.data.map((post: { attempt: number; answer: number }) => [post.attempt, post.answer])).toEqual([
      [1, 200],
      [3, 200],
      [2, 302],
    ]);
  });

  test('a receiver that is away is reported in one line, not for each attempt', async () => {
    const { startSimulator } = await import('../src/server.ts');
    const lines: string[] = [];
    const nowMs = () => Date.parse('2026-11-20T12:00:00Z');
    const own = await startSimulator({ nowMs, report: (line) => lines.push(line) });
    const control = (path: string, body: object) =>
      fetch(`${own.url}/_control/${path}`, { method: 'POST', body: JSON.stringify(body) });
    const gone = await callbackReceiver();
    await gone.stop();
    await control(`apps/${demoApp}`, { callback_url: gone.url });
    await control('webhooks', { waba_id: firstWaba, field: 'account_update', value: {} });
    for (const seconds of [0, 3_600, 3_600]) await control('clock', { advance_seconds: seconds });
    expect(lines).toEqual([`webhooks: ${gone.url} answers ECONNREFUSED; trying again`]);
    const list = await (await fetch(`${own.url}/_control/webhooks`)).json();
    expect(list).toMatchObject({ total: 3, due: 1, data: [{ attempt: 3, answer: 'ECONNREFUSED' }, {}, {}] });
    await own.stop();
  });

  test('signed with the secret of now', async () => {
    await simulator.control('POST', `apps/${demoApp}`, { secret: 'another' });
    await simulator.send(recipient);
    await wait(0);
    const [post] = posts();
    const expected = createHmac('sha256', 'another')
      .update(post?.bytes ?? '')
      .digest('hex');
    expect(post?.headers['x-hub-signature-256']).toBe(`sha256=${expected}`);
    await simulator.control('POST', `apps/${demoApp}`, { secret: 'demo-app-secret' });
  });

  test('only the fields that the app wants, and only while it is subscribed', async () => {
    await simulator.control('POST', `apps/${demoApp}`, { fields: ['account_update'] });
    await simulator.send(recipient);
    const news = { waba_id: firstWaba, field: 'account_update', value: { event: 'VERIFIED_ACCOUNT' } };
    expect((await simulator.control('POST', 'webhooks', news)).body).toEqual({ success: true, targets: 1 });
    expect(await fields()).toEqual(['account_update']);
    await simulator.control('POST', `apps/${demoApp}`, { fields: null, subscribed_waba_ids: [] });
    expect((await simulator.control('POST', 'webhooks', news)).body).toEqual({ success: true, targets: 0 });
    expect(await fields()).toEqual(['account_update']);
  });

  test('a reset forgets what was planned and who subscribed, and keeps the callback', async () => {
    await simulator.send(recipient);
    await simulator.call('DELETE', `/v25.0/${firstWaba}/subscribed_apps`);
    await simulator.control('POST', 'reset');
    await wait(10);
    receiver.forget();
    await simulator.send(recipient);
    expect(await statuses()).toEqual(['sent']);
  });
});
