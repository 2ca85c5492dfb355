import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statusAt } from '../../../infra/simulator/console/message-status.ts';
import { searched } from '../../../infra/simulator/console/search.ts';
import { curlOf } from '../../../infra/simulator/console/texts.ts';
import { MessageLog } from '../../../infra/simulator/logs.ts';
import { refusedKept } from '../../../infra/simulator/refused-log.ts';
import { startSimulator } from '../../../infra/simulator/server.ts';
import { type CallbackReceiver, callbackReceiver } from '../../support/callback-receiver.ts';
import {
  button,
  firstNumber,
  firstWaba,
  recipient,
  simulatorOfFile,
  templateMessage,
} from '../../support/simulator.ts';
import { validSends } from './valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });
let receiver: CallbackReceiver;
const app = '500000000000001';

beforeAll(async () => {
  receiver = await callbackReceiver();
});
afterAll(() => receiver.stop());

async function sent(callbackData = 'mine'): Promise<string> {
  const { body } = await simulator.send(recipient, { biz_opaque_callback_data: callbackData });
  return body.messages[0].id;
}
const at = (id: string, rest = '') => `messages/${encodeURIComponent(id)}${rest}`;

async function listening() {
  receiver.forget();
  await simulator.control('POST', `apps/${app}`, { callback_url: receiver.url, subscribed_waba_ids: [firstWaba] });
}
const deliveries = () => receiver.calls.map(({ bytes }) => JSON.parse(bytes.toString()));

describe('the inbox', () => {
  test('rows, newest first, page by page; a job by the mark that the service gives', async () => {
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
        job: '01KAPQ5Z3M9T7V1XW2YB4C6D8E',
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

describe('what recipients do is told by webhook', () => {
  test('a reply, and a button that was pressed', async () => {
    await listening();
    const id = await sent();
    await simulator.control('POST', at(id, '/reply'), { text: '¿Cuándo?' });
    await simulator.control('POST', at(id, '/reply'), { text: 'Lo quiero', payload: 'yes' });
    const incoming = deliveries().flatMap(({ entry }) =>
      entry[0].changes.map((change: { value: object }) => change.value),
    );
    const said = incoming.filter((value) => 'messages' in value);
    expect(said).toHaveLength(2);
    expect(deliveries().flatMap(({ entry }) => entry.map((each: object) => 'time' in each))).not.toContain(true);
    expect(said[0]).toMatchObject({
      messaging_product: 'whatsapp',
      metadata: { phone_number_id: firstNumber },
      contacts: [{ wa_id: recipient, user_id: 'AR.13607919076743524463' }],
      messages: [
        {
          from: recipient,
          from_user_id: 'AR.13607919076743524463',
          type: 'text',
          text: { body: '¿Cuándo?' },
          context: { id },
        },
      ],
    });
    expect(said[1].messages[0]).toMatchObject({ type: 'button', button: { text: 'Lo quiero', payload: 'yes' } });
    expect((await simulator.control('GET', at(id))).body.replies).toMatchObject([
      { text: '¿Cuándo?' },
      { text: 'Lo quiero' },
    ]);
  });

  test('an answer by a button, a row, a form; the message that it answers may be missing', async () => {
    await listening();
    const id = await sent();
    const reply = (body: object) => simulator.control('POST', at(id, '/reply'), body);
    await reply({ text: 'Yes', button_id: 'y' });
    await reply({ text: 'Tuesday', list_id: 'tue', description: 'after noon' });
    await reply({ text: 'Sent', flow: { flow_token: 'f', day: 2 } });
    await reply({ text: 'Stop', payload: 'Stop', has_context: false });
    const messages = deliveries()
      .flatMap(({ entry }) => entry[0].changes.flatMap((change: { value: { messages?: object[] } }) => change.value))
      .flatMap((value: { messages?: object[] }) => value.messages ?? []);
    const context = { from: '5491100000001', id };
    const answer = (type: string, content: object) => ({ context, interactive: { type, [type]: content } });
    expect(messages).toMatchObject([
      answer('button_reply', { id: 'y', title: 'Yes' }),
      answer('list_reply', { id: 'tue', title: 'Tuesday', description: 'after noon' }),
      answer('nfm_reply', { name: 'flow', body: 'Sent', response_json: '{"flow_token":"f","day":2}' }),
      { type: 'button', button: { text: 'Stop', payload: 'Stop' } },
    ]);
    expect(messages.map((message: object) => 'context' in message)).toEqual([true, true, true, false]);
    expect(await reply({ text: 'Yes', button_id: 'y', payload: 'y' })).toMatchObject({ status: 400 });
  });

  test('a tap brings back what the send has put behind the button, else its label; in cards too', async () => {
    await listening();
    const payload = (value: string) => ({ type: 'payload', payload: value });
    const longest = '7'.repeat(128);
    const offer = [...validSends.welcome_offer.components, button('quick_reply', 1, payload(longest))];
    const [tourBody, carousel] = validSends.city_tour.components;
    // The platform orders cards by card_index, not by their place in the list.
    const cards = carousel.cards.toReversed().map(({ card_index, components }) => ({
      card_index,
      components: components.map((part) =>
        'sub_type' in part && part.sub_type === 'quick_reply'
          ? button('quick_reply', 0, payload(`c${card_index}`))
          : part,
      ),
    }));
    const sentAs = async (name: string, code: string, components: readonly unknown[]) => {
      const { body } = await simulator.send(recipient, { template: { name, language: { code }, components } });
      return body.messages[0].id as string;
    };
    const first = await sentAs('welcome_offer', 'es', offer);
    const second = await sentAs('city_tour', 'en_US', [tourBody, { type: 'carousel', cards }]);
    const tap = (id: string, body: object) => simulator.control('POST', at(id, '/tap'), body);
    await tap(first, { button: 0 });
    await tap(first, { button: 1, has_context: false });
    await simulator.control('POST', `recipients/${recipient}/thread`, { phone_number_id: firstNumber, owner: 'other' });
    await tap(second, { card: 1, button: 0 });
    const changes = deliveries().flatMap(({ entry }) => entry.flatMap((one: { changes: object[] }) => one.changes));
    const taps = changes.flatMap(({ field, value }) =>
      (value.messages ?? []).map((message: { type: string; button: object; context?: { id: string } }) => [
        ...[field, message.type, message.button, message.context?.id],
      ]),
    );
    expect(taps).toEqual([
      ['messages', 'button', { text: 'Lo quiero', payload: 'Lo quiero' }, first],
      ['messages', 'button', { text: 'Ahora no', payload: longest }, undefined],
      ['standby', 'button', { text: 'More like this', payload: 'c1' }, second],
    ]);
    expect((await simulator.control('GET', at(first))).body.replies).toMatchObject([
      { text: 'Lo quiero' },
      { text: 'Ahora no' },
    ]);
    const elsewhere = [{ button: 2 }, { card: 0, button: 0 }, { button: -1 }, {}];
    for (const place of elsewhere) expect((await tap(first, place)).body.field, JSON.stringify(place)).toBe('button');
    expect((await tap(second, { card: 0, button: 1 })).body).toMatchObject({ field: 'button' });
    expect((await tap(await sent(), { button: 0 })).status).toBe(400);
  });

  test('what a message shows of its recipient: stopped, by its number alone, until a resume', async () => {
    const stopped = async () => (await simulator.control('GET', at(id))).body.stopped;
    const id = await sent();
    const person = (value: string, number: string) =>
      simulator.control('POST', `recipients/${recipient}/preference`, { phone_number_id: number, value });
    await person('stop', '300000000000002');
    expect(await stopped()).toBe(false);
    await person('stop', firstNumber);
    expect(await stopped()).toBe(true);
    await person('resume', firstNumber);
    expect(await stopped()).toBe(false);
  });

  test('read at once, failed later: on the clock of the simulator', async () => {
    await listening();
    const id = await sent('job-1');
    await simulator.control('POST', at(id, '/status'), { status: 'read' });
    await simulator.control('POST', at(id, '/status'), { status: 'failed', code: 131026, in_seconds: 60 });
    const told = () => receiver.updates().map(({ value }) => `${value.status} ${value.biz_opaque_callback_data}`);
    expect(told()).toEqual(['sent job-1', 'read job-1']);
    await simulator.control('POST', 'clock', { advance_seconds: 61 });
    expect(told()).toContain('failed job-1');
    expect(receiver.updates().at(-1)?.value.errors[0].code).toBe(131026);
    const { body } = await simulator.control('GET', at(id));
    expect(statusAt(body.row, Date.parse('2026-11-20T12:00:30Z'))).toMatchObject({ status: 'read' });
    expect(statusAt(body.row, Date.parse('2026-11-20T12:01:01Z'))).toMatchObject({ status: 'failed', code: 131026 });
  });

  test.each([
    [{ status: 'failed' }, 'code: goes with failed, and only with it'],
    [{ status: 'read', code: 131026 }, 'code: goes with failed, and only with it'],
    [{ status: 'failed', code: 7 }, 'code: is not a code of the platform'],
    [{ status: 'gone' }, 'status: '],
  ])('a status that is none: %j', async (status, message) => {
    const { status: http, body } = await simulator.control('POST', at(await sent(), '/status'), status);
    expect([http, body.message]).toEqual([400, expect.stringContaining(message)]);
  });

  test('whoever has blocked the business is sent to in vain, until they unblock it', async () => {
    await simulator.control('POST', `recipients/${recipient}`, { blocked: true });
    await sent();
    await simulator.control('POST', `recipients/${recipient}`, { blocked: false });
    await sent();
    const { body } = await simulator.control('GET', 'inbox');
    const told = body.data.map((row: { told: { status: string }[] }) => row.told.map(({ status }) => status));
    expect(told).toEqual([['sent', 'delivered', 'read'], ['sent']]);
  });
});

describe('refused sends', () => {
  const mark = '01KAPQ5Z3M9T7V1XW2YB4C6D8E-7';
  const listed = async () => (await simulator.control('GET', 'inbox')).body;

  test('stand in the list where they happened, with code and reason; what counts messages counts none of them', async () => {
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
    expect(data[6]).toMatchObject({ number: firstNumber, job: mark.slice(0, 26), preview: 'Message Undeliverable' });
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

  test('one whole: the request, the words of the platform, its request, its other tries and what holds it', async () => {
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

test('a code has its words', async () => {
  const { body } = await simulator.control('GET', 'service/codes/131026');
  expect(body.data[0]).toMatchObject({ code: '131026', remedy: expect.any(String) });
});

describe('the service beside the simulator', () => {
  test('is asked only when it is known, and only on this machine', async () => {
    await simulator.control('POST', 'service', { url: null });
    const ask = { method: 'GET', path: '/health' };
    expect((await simulator.control('POST', 'service/try', ask)).body.message).toContain('is not known');
    for (const url of [
      'https://example.com',
      'http://127.0.0.1.example.com:80',
      'http://10.0.0.1:80',
      'file:///etc/passwd',
    ]) {
      expect((await simulator.control('POST', 'service', { url })).status, url).toBe(400);
    }
    await simulator.control('POST', 'service', { url: receiver.origin });
    await simulator.control('POST', 'reset');
    expect((await simulator.control('POST', 'service/try', ask)).body).toMatchObject({ status: 403, body: '' });
    for (const path of ['health', '//example.com/', 'http://example.com/', '/a b', '@example.com/']) {
      expect((await simulator.control('POST', 'service/try', { method: 'GET', path })).status, path).toBe(400);
    }
    const { body } = await simulator.control('GET', 'service');
    expect([body.url, body.users[0].username]).toEqual([receiver.origin, 'operator']);
  });
});

describe('an open page hears of what is new', () => {
  test('at once, and of nothing once it is closed', async () => {
    const leaving = new AbortController();
    const reply = await fetch(`${simulator.url}/_control/live`, { signal: leaving.signal });
    const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, ''));
    const before = await next();
    await simulator.send(recipient);
    expect((await next()).messages).toBe(before.messages + 1);
    leaving.abort();
  });

  test('of a person who stops by themselves, when their time has come', async () => {
    let nowMs = Date.parse('2026-11-20T12:00:00Z');
    const timed = await startSimulator({ nowMs: () => nowMs });
    const { components } = validSends.welcome_offer;
    const reply = await fetch(`${timed.url}/v25.0/${firstNumber}/messages`, {
      method: 'POST',
      headers: { authorization: 'Bearer demo-platform-token', 'content-type': 'application/json' },
      body: JSON.stringify({ ...templateMessage('welcome_offer', components, 'es'), to: '15550231050' }),
    });
    expect(reply.status).toBe(200);
    const leaving = new AbortController();
    const live = await fetch(`${timed.url}/_control/live`, { signal: leaving.signal });
    const reader = live.body?.pipeThrough(new TextDecoderStream()).getReader();
    const settings = async () => JSON.parse(String((await reader?.read())?.value).replace(/^data: /, '')).settings;
    const before = await settings();
    nowMs += 1_000;
    let after = before;
    while (after === before) after = await settings();
    leaving.abort();
    await timed.stop();
    expect(after).not.toBe(before);
  });

  test('twenty watch, one more is refused; who leaves makes room', async () => {
    const leaving = new AbortController();
    const watch = () => fetch(`${simulator.url}/_control/live`, { signal: leaving.signal });
    const open = await Promise.all(Array.from({ length: 20 }, watch));
    expect(open.map(({ status }) => status)).toEqual(open.map(() => 200));
    expect((await watch()).status).toBe(503);
    leaving.abort();
    await expect
      .poll(async () => {
        const again = await fetch(`${simulator.url}/_control/live`);
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });
});

describe('what the console makes of it', () => {
  test.each([
    ['', true],
    ['order A-1042', true],
    ['a-1042 ORDER !summer', true],
    ['order summer', false],
    ['order !A-1042', false],
    ['  ! order', true],
  ])('a search for %j', (query, isFound) => {
    expect(searched(query)('Hello Ana, your order A-1042')).toBe(isFound);
  });

  test('a request for a shell, whatever is in it', () => {
    const body = { text: "it's $HOME `x`" };
    expect(curlOf({ origin: 'http://127.0.0.1:1', method: 'POST', path: '/a b', query: { q: '$(x)' }, body })).toBe(
      [
        "curl -X POST 'http://127.0.0.1:1/a b?q=%24%28x%29' \\",
        '  -H "authorization: Bearer $PLATFORM_TOKEN" \\',
        "  -H 'content-type: application/json' \\",
        `  --data-raw '{"text":"it'\\''s $HOME \`x\`"}'`,
      ].join('\n'),
    );
  });
});
