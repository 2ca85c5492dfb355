import { describe, expect, test } from 'vitest';
import { statusAt } from '../console/message-status.ts';
import { MessageLog } from '../src/logs.ts';
import { refusedKept } from '../src/refused-log.ts';
import { inboxOf } from './support/inbox-of.ts';
import { firstNumber, firstWaba, recipient, simulatorOfFile, templateMessage } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });
const { sent, at } = inboxOf(simulator);

describe('the inbox', () => {
  test('rows, newest first, page by page; a dispatch by the mark that the service gives', async () => {
    for (const place of [1, 2, 3]) await sent(`01KAPQ5Z3M9T7V1XW2YB4C6D8E-${place}`);
    const { body } = await simulator.control('GET', 'inbox?limit=2');
    expect([body.total, body.data.map((row: { place: number }) => row.place)]).toEqual([3, [3, 2]]);
    const { body: older } = await simulator.control('GET', 'inbox?limit=2&before=2');
    expect(older.data).toEqual([
      {
        place: 1,
        id: expect.stringMatching(/^wamid\./),
        to: recipient,
        number: firstNumber,
        template: 'order_update',
        language: 'en_US',
        category: 'UTILITY',
        preview: 'Hello Ana, your order A-1042 is on its way.',
        dispatch: '01KAPQ5Z3M9T7V1XW2YB4C6D8E',
        received_ms: Date.parse('2026-11-20T12:00:00Z'),
        told: [
          { status: 'sent', at_ms: Date.parse('2026-11-20T12:00:00Z') },
          { status: 'delivered', at_ms: Date.parse('2026-11-20T12:00:01Z') },
          { status: 'read', at_ms: Date.parse('2026-11-20T12:00:03Z') },
        ],
        replies: 0,
      },
    ]);
  });

  test('a message keeps the template that it was sent with', async () => {
    const id = await sent();
    await simulator.control('POST', 'templates/1100000000000001', {
      components: [{ type: 'BODY', text: 'Another text for {{1}} and {{2}}.' }],
    });
    const { body } = await simulator.control('GET', at(id));
    expect(body.components[0].text).toBe('Hello {{1}}, your order {{2}} is on its way.');
    expect(body).toMatchObject({ from: '+54 9 11 0000-0001', callback_data: 'mine', blocked: false, replies: [] });
  });

  test('what is no message is not there', async () => {
    expect((await simulator.control('GET', at('wamid.%'))).status).toBe(404);
    expect((await simulator.control('POST', at('wamid.x', '/reply'), { text: 'a' })).status).toBe(404);
  });
});

describe('refused sends', () => {
  const mark = '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7';
  const listed = async () => (await simulator.control('GET', 'inbox')).body;

  test('are in the list in order of time, with code and reason; they do not count as messages', async () => {
    await sent(mark);
    await simulator.send('15550231026', { biz_opaque_callback_data: mark });
    await simulator.send(recipient, { template: { name: 'no_such', language: { code: 'en_US' } } });
    await simulator.send(recipient, { to: undefined });
    await simulator.send('15550000502');
    await simulator.call('POST', `/v25.0/${firstNumber}/messages`, templateMessage('order_update', []), 'wrong');
    await simulator.post('300000000000099/messages', { to: recipient });
    await sent(mark);
    const { total, dropped, data } = await listed();
    expect([total, dropped]).toEqual([8, []]);
    const brief = data.map((row: Record<string, unknown>) => [
      row['place'],
      row['to'],
      row['template'],
      row['refusal'],
    ]);
    expect(brief).toEqual([
      [8, recipient, 'order_update', undefined],
      [7, recipient, '', { code: 100, http_status: 400, kind: 'other' }],
      [6, recipient, 'order_update', { code: 190, http_status: 401, kind: 'other' }],
      [5, '15550000502', 'order_update', { code: null, http_status: 502, kind: 'other' }],
      [4, '', 'order_update', { code: 100, http_status: 400, kind: 'other' }],
      [3, recipient, 'no_such', { code: 132001, http_status: 404, kind: 'other' }],
      [2, '15550231026', 'order_update', { code: 131026, http_status: 400, kind: 'other' }],
      [1, recipient, 'order_update', undefined],
    ]);
    expect(data[6]).toMatchObject({
      number: firstNumber,
      dispatch: mark.slice(0, 26),
      preview: 'Message Undeliverable',
    });
    expect(data[5].preview).toBe('template name (no_such) does not exist in en_US');
    expect((await simulator.control('GET', 'messages')).body.total).toBe(2);
    expect((await simulator.control('GET', 'overview')).body.counts).toMatchObject({ messages: 2, recipients: 1 });
    expect((await simulator.control('GET', 'sending')).body).toMatchObject({ duplicates: { total: 1 } });
  });

  test('no send, or no refusal: a read mark, a closed connection, another call', async () => {
    await simulator.post(`${firstNumber}/messages`, { messaging_product: 'whatsapp', status: 'read', message_id: 'x' });
    await simulator.send('15550000100').catch(() => undefined);
    await simulator.get('300000000000099/messages');
    await simulator.post(`${firstNumber}/register`, {});
    expect(await listed()).toEqual({ total: 0, dropped: [], data: [] });
  });

  test('one in full: the request, the platform’s words, the exchange, other tries and its holds', async () => {
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131042 });
    await simulator.send(recipient, { biz_opaque_callback_data: mark });
    const { data } = await listed();
    const whole = async () => (await simulator.control('GET', `refused/${data[0].id}`)).body;
    expect(await whole()).toMatchObject({
      row: { place: 1, category: 'UTILITY', refusal: { code: 131042 } },
      request: { to: recipient, biz_opaque_callback_data: mark },
      refusal: {
        code: 131042,
        message: '(#131042) Business eligibility payment issue',
        details: 'There was an error related to your payment method.',
      },
      template_id: '1100000000000001',
      ...{ from: '+54 9 11 0000-0001', callback_data: mark, exchange: 1, blocked: false, stopped: false },
      dispatch: { did: '5491100000001', id: mark.slice(0, 26) },
      tries: [{ id: 'refused.1', refusal: { code: 131042 } }],
      holds: [{ of: 'WABA', id: firstWaba, code: 131042, remove: `wabas/${firstWaba}/holds?code=131042` }],
    });
    expect((await simulator.control('GET', 'exchanges/1')).body.message).toBe('refused.1');
    await simulator.call('DELETE', `/_control/wabas/${firstWaba}/holds?code=131042`);
    const id = await sent(mark);
    expect(await whole()).toMatchObject({ holds: [], tries: [{ id: 'refused.1' }, { id }] });
    const { body: message } = await simulator.control('GET', at(id));
    expect(message).toMatchObject({ exchange: 2, holds: [], dispatch: { id: mark.slice(0, 26) } });
    expect(message.tries).toEqual((await whole()).tries);
    expect((await simulator.control('GET', 'refused/refused.2')).status).toBe(404);
    expect((await simulator.control('GET', at('refused.1'))).status, 'it is no message').toBe(404);
  });

  test('the newest are kept, throttled ones apart: a flood of those drives nothing else out', async () => {
    const messages = new MessageLog();
    const refusal = { httpStatus: 400, subcode: null, message: '', details: '' };
    const send = {
      ...{ to: recipient, numberId: firstNumber, path: '', request: {}, callbackData: undefined, exchangeId: 1 },
      template: { name: '', language: '' },
    };
    const refuse = (code: number) =>
      messages.refuse({ ...send, receivedMs: messages.places, refusal: { ...refusal, code } });
    refuse(131026);
    for (let count = 0; count < 2 * refusedKept.throttled; count += 1) refuse(130429);
    expect(messages.refused).toMatchObject({ total: 2_001, kept: 1_001 });
    expect(messages.refused.dropped()).toMatchObject([{ kind: 'throttled', count: 1_000, since: { place: 1_002 } }]);
    for (let count = 1; count < 2 * refusedKept.other; count += 1) refuse(131026);
    expect(messages.refused.kept).toBe(refusedKept.other + refusedKept.throttled);
    expect(messages.refused.dropped().map(({ kind, count }) => [kind, count])).toEqual([
      ['throttled', 1_000],
      ['other', 10_000],
    ]);
    const places = messages.before(12_003, 2_000).map(({ place }) => place);
    expect([places[0], places.at(-1), places.length]).toEqual([12_002, 1_002, 2 + refusedKept.throttled]);
    expect(messages.before(messages.places + 1, 3).map(({ place }) => place)).toEqual([22_000, 21_999, 21_998]);
  });

  test('a message that the platform holds says until when, and whose pacing it is', async () => {
    const held = (row: { held_until_ms?: number | null }) => row.held_until_ms;
    await simulator.send('15550000201');
    await simulator.control('POST', 'businesses/400000000000001/pacing', { accepts: 0 });
    const id = await sent();
    const { data } = await listed();
    expect(data.map(held)).toEqual([null, Date.parse('2026-11-20T12:10:00Z')]);
    expect(statusAt(data[0], Date.parse('2030-01-01'))).toMatchObject({ status: 'held' });
    expect(statusAt(data[1], Date.parse('2026-11-20T12:09:59Z'))).toMatchObject({ status: 'held' });
    expect(statusAt(data[1], Date.parse('2026-11-20T12:10:03Z'))).toMatchObject({ status: 'read' });
    expect((await simulator.control('GET', at(id))).body.business).toBe('400000000000001');
    await simulator.control('POST', 'businesses/400000000000001/pacing/outcome', { outcome: 'released' });
    const { body } = await simulator.control('GET', at(id));
    expect([held(body.row), body.row.told.length]).toEqual([undefined, 3]);
  });
});

describe('requests with what they got', () => {
  test('whole, the newest first; long answers are cut', async () => {
    await simulator.get(`${firstWaba}/message_templates`, { limit: '100' });
    await simulator.send(recipient);
    await simulator.control('POST', 'faults', { action: { drop: 'before' }, times: 1 });
    await simulator.send(recipient).catch(() => undefined);
    const { body } = await simulator.control('GET', 'exchanges');
    expect(body.data.map(({ id, status }: { id: number; status: number | null }) => [id, status])).toEqual([
      [3, null],
      [2, 200],
      [1, 200],
    ]);
    const one = async (id: number) => (await simulator.control('GET', `exchanges/${id}`)).body;
    expect((await one(2)).reply.body.messages).toHaveLength(1);
    expect(body.data[1]).toMatchObject({ to: recipient, template: 'order_update', code: null });
    expect((await one(2)).message).toMatch(/^wamid\./);
    expect((await one(3)).reply).toEqual({ kind: 'closed', body: null, cut: false });
    expect((await one(1)).reply).toMatchObject({ cut: false });
    expect((await simulator.control('GET', 'exchanges/4')).status).toBe(404);
    expect((await simulator.control('GET', 'exchanges/x')).status).toBe(404);
  });
});

test('a code has an explanation', async () => {
  const { body } = await simulator.control('GET', 'service/codes/131026');
  expect(body.data[0]).toMatchObject({ code: '131026', remedy: expect.any(String) });
});
