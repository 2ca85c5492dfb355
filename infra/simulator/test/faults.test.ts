import { describe, expect, test } from 'vitest';
import { magicRecipients } from '../src/magic-recipients.ts';
import { expectMessagingError } from './support/refusals.ts';
import {
  firstNumber,
  firstWaba,
  recipient,
  secondWaba,
  simulatorOfFile,
  templateMessage,
  thirdNumber,
} from './support/simulator.ts';
import { validSends } from './support/valid-sends.ts';

const simulator = simulatorOfFile({ afresh: true });
/** The clock moves only on command. */
const startedAt = '2026-11-20T12:00:00.000Z';

const fault = (action: unknown, match: unknown = {}, times?: number) =>
  simulator.control('POST', 'faults', { match, action, ...(times === undefined ? {} : { times }) });
const accepted = async () => (await simulator.control('GET', 'messages?limit=0')).body.total;
const statuses = async () =>
  (await simulator.control('GET', 'requests')).body.data.map((request: { status: unknown }) => request.status);

describe('actions', () => {
  test.each([
    [{ code: 130429 }, 400, { code: 130429, error_data: expect.anything() }],
    [{ code: 131000 }, 500, { code: 131000 }],
    [{ code: 131056, status: 429 }, 429, { code: 131056 }],
    [{ code: 190 }, 401, { code: 190 }],
    [{ code: 270 }, 403, { code: 270 }],
    [{ code: 80008 }, 400, { code: 80008, is_transient: true }],
    [{ status: 500 }, 500, { code: 131000 }],
    [{ status: 503 }, 503, { code: 2, is_transient: true }],
    [{ status: 429 }, 429, { code: 4 }],
    [{ status: 403 }, 403, { code: 10 }],
    [{ status: 400 }, 400, { code: 100 }],
    [
      { subcode: 2388039 },
      400,
      {
        message: 'Invalid parameter',
        code: 100,
        error_subcode: 2388039,
        is_transient: false,
        error_user_title: 'status cannot be changed',
        error_user_msg: 'status cannot be changed',
      },
    ],
  ])('%o', async (action, status, error) => {
    await fault(action);
    const answer = await simulator.send(recipient);
    expect(answer.status).toBe(status);
    expect(answer.body.error).toMatchObject({ ...error, type: 'OAuthException', fbtrace_id: expect.any(String) });
    expect([await accepted(), await statuses()]).toEqual([0, [status]]);
  });

  test.each([
    [{ html: true }, 502, /<h1>502 Bad Gateway/],
    [{ html: '<p>down</p>', status: 503 }, 503, /^<p>down<\/p>$/],
    [{ html: 'hello', status: 200 }, 200, /^hello$/],
  ])('%o', async (action, status, text) => {
    await fault(action);
    const answer = await simulator.send(recipient);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html']);
    expect(answer.body).toMatch(text);
    expect(await accepted()).toBe(0);
  });

  test('drop before: the connection closes, no message is recorded', async () => {
    await fault({ drop: 'before' });
    await expect(simulator.send(recipient)).rejects.toThrow('fetch failed');
    expect([await accepted(), await statuses()]).toEqual([0, [null]]);
  });

  test('drop after: the connection closes, the message is recorded', async () => {
    await fault({ drop: 'after' });
    await expect(simulator.send(recipient)).rejects.toThrow('fetch failed');
    expect([await accepted(), await statuses()]).toEqual([1, [null]]);
  });

  test('a delay alone: the request is carried out, also when the client has given up', async () => {
    await fault({ delay_ms: 1 }, {}, 1);
    expect((await simulator.send(recipient)).status).toBe(200);
    await fault({ delay_ms: 600_000 });
    const impatient = fetch(`${simulator.url}/v25.0/${firstWaba}`, { signal: AbortSignal.timeout(50) });
    await expect(impatient).rejects.toThrow();
    await expect.poll(statuses).toEqual([401, 200]);
  });
});

describe('matching', () => {
  test('by part of the path', async () => {
    await fault({ status: 500 }, { path: '/messages' });
    expect((await simulator.send(recipient)).status).toBe(500);
    expect((await simulator.get(firstWaba)).status).toBe(200);
    expect((await simulator.get(`${firstWaba}/message_templates`)).status).toBe(200);
    expect((await simulator.post('300000000000001/marketing_messages', {})).body.error.code).toBe(100);
  });

  test('by recipient, with or without a plus', async () => {
    await fault({ status: 500 }, { to: `+${recipient}` });
    expect((await simulator.send(recipient)).status).toBe(500);
    expect((await simulator.send(`+${recipient}`)).status).toBe(500);
    expect((await simulator.send('5491150000002')).status).toBe(200);
  });

  test('so many times, in the order in which they were set, then no more', async () => {
    await fault({ status: 500 }, {}, 2);
    await fault({ status: 503 }, {}, 1);
    const answers = [];
    for (let call = 0; call < 4; call += 1) answers.push((await simulator.send(recipient)).status);
    expect(answers).toEqual([500, 500, 503, 200]);
  });

  test('without times: until they are taken away', async () => {
    await fault({ status: 500 });
    expect([(await simulator.send(recipient)).status, (await simulator.send(recipient)).status]).toEqual([500, 500]);
    await simulator.control('DELETE', 'faults');
    expect((await simulator.send(recipient)).status).toBe(200);
  });
});

describe('one of several is removed by its id, and the others stay', () => {
  const course = (copies: number) => simulator.control('POST', 'receipts', { course: { copies }, times: 5 });
  test.each([
    ['faults', () => fault({ code: 131026 }, { to: '5491150000009' }, 5)],
    ['receipts', () => course(2)],
  ])('%s', async (list, add) => {
    const idsNow = async () =>
      (await simulator.control('GET', 'overview')).body[list].map((rule: { id: string; left: number }) => [
        ...[rule.id, rule.left],
      ]);
    const ids = [(await add()).body.id, (await add()).body.id, (await add()).body.id];
    await simulator.control('DELETE', `${list}/${ids[1]}`);
    expect(await idsNow()).toEqual([
      [ids[0], 5],
      [ids[2], 5],
    ]);
    const again = await simulator.control('DELETE', `${list}/${ids[1]}`);
    expect([again.status, again.body.field]).toEqual([404, 'id']);
    // A new fault never takes the id of a removed one.
    const { body: later } = await add();
    expect(ids).not.toContain(later.id);
    await simulator.control('DELETE', list);
    expect(await idsNow()).toEqual([]);
  });
});

test('templates that are paused: since when, and until when', async () => {
  const id = '1100000000000001';
  const paused = async () => {
    const { body } = await simulator.control('GET', 'overview');
    return body.paused.find((one: { id: string }) => one.id === id);
  };
  expect(await paused()).toBeUndefined();
  await simulator.control('POST', 'clock', { advance_seconds: 60 });
  await simulator.control('POST', `templates/${id}/pause`);
  expect(await paused()).toEqual({
    ...{ id, waba_id: firstWaba, name: 'order_update', language: 'en_US' },
    ...{ since: '2026-11-20T12:01:00+0000', until: '2026-11-20T15:01:00.000Z' },
  });
  await simulator.control('POST', `templates/${id}`, { status: 'APPROVED' });
  expect(await paused()).toBeUndefined();
  await simulator.control('POST', `templates/${id}`, { status: 'PAUSED' });
  expect(await paused()).toMatchObject({ until: null });
});

test('a message is accepted under another word, and what accepts none is left alone', async () => {
  await fault({ message_status: 'teleported' });
  const { status, body } = await simulator.send(recipient);
  expect([status, body.messages[0].message_status, await accepted()]).toEqual([200, 'teleported', 1]);
  expect((await simulator.get(`${firstWaba}/message_templates`)).body.data.length).toBeGreaterThan(0);
  const refused = await simulator.send(recipient, { template: { name: 'no_such', language: { code: 'es' } } });
  expect(refused.body.error.code).toBe(132001);
});

describe('holds (platform reference, 6.4)', () => {
  const messageOf = (name: 'order_update' | 'welcome_offer' | 'login_code') =>
    templateMessage(name, validSends[name].components, validSends[name].language);
  /** The sends have each category, no category, another number and another WABA. */
  const sends: Readonly<Record<string, () => ReturnType<typeof simulator.post>>> = {
    UTILITY: () => simulator.post(`${firstNumber}/messages`, messageOf('order_update')),
    MARKETING: () => simulator.post(`${firstNumber}/messages`, messageOf('welcome_offer')),
    AUTHENTICATION: () => simulator.post(`${firstNumber}/messages`, messageOf('login_code')),
    text: () =>
      simulator.post(`${firstNumber}/messages`, { ...templateMessage('', []), type: 'text', text: { body: 'Hi' } }),
    neighbour: () => simulator.send(recipient, {}, '300000000000002'),
    stranger: () =>
      simulator.send(
        recipient,
        { template: { name: 'appointment_reminder', language: { code: 'pt_BR' } } },
        thirdNumber,
      ),
  };
  const concerned: Readonly<Record<string, readonly string[]>> = {
    waba: ['UTILITY', 'MARKETING', 'AUTHENTICATION', 'text', 'neighbour'],
    utility: ['UTILITY', 'neighbour'],
    number: ['UTILITY', 'MARKETING', 'AUTHENTICATION', 'text'],
    marketing: ['MARKETING'],
  };
  const placeOf = (kind: string) =>
    kind === 'waba' || kind === 'utility' ? `wabas/${firstWaba}/holds` : `numbers/${firstNumber}/holds`;
  const codesNow = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(sends).map(async ([name, send]) => [name, (await send()).body.error?.code ?? 'taken'] as const),
      ),
    );
  const free = { ...Object.fromEntries(Object.keys(sends).map((name) => [name, 'taken'])), stranger: 132000 };

  // A template status causes 132015 and a field of the WABA causes 131063: no control opens these holds.
  const ofNodes = [
    { code: 368, status: 403, holds: 'waba' },
    { code: 131031, status: 403, holds: 'waba' },
    { code: 131048, status: 400, holds: 'marketing' },
    { code: 131037, status: 400, holds: 'number' },
    { code: 131042, status: 400, holds: 'waba' },
    { code: 131045, status: 500, holds: 'number' },
    { code: 131064, status: 400, holds: 'utility' },
    { code: 133010, status: 400, holds: 'number' },
  ];
  test.each(ofNodes)(
    '$code of $holds: what it concerns is refused and taken nowhere, until it is taken back',
    async ({ code, status, holds }) => {
      const path = placeOf(holds);
      const held = await simulator.control('POST', path, { code });
      expect([held.status, held.body.holds]).toEqual([200, [{ code, since: startedAt }]]);
      const refused = concerned[holds] ?? [];
      expect(await codesNow()).toEqual({ ...free, ...Object.fromEntries(refused.map((name) => [name, code])) });
      expectMessagingError((await sends[refused[0] ?? '']?.()) ?? expect.fail(), status, code, undefined);
      const { data } = (await simulator.control('GET', 'sending')).body;
      const sum = (name: string) =>
        data.reduce((all: number, number: Record<string, number>) => all + (number[name] ?? 0), 0);
      const taken = Object.keys(sends).length - 1 - refused.length;
      expect([sum('calls'), sum('accepted'), await accepted()]).toEqual([Object.keys(sends).length + 1, taken, taken]);
      expect((await simulator.control('DELETE', path)).body.holds).toEqual([]);
      expect(await codesNow()).toEqual(free);
    },
  );

  test('each is known to the control call of its node, and to no other', async () => {
    for (const { code, holds } of ofNodes) {
      const other = placeOf(holds === 'waba' || holds === 'utility' ? 'number' : 'waba');
      expect((await simulator.control('POST', other, { code })).body.field).toBe('code');
    }
  });

  test('nothing of the throughput is used up: a number that was refused a second long sends at once', async () => {
    await simulator.control('POST', `numbers/${firstNumber}`, { is_on_biz_app: true });
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131042 });
    for (let call = 0; call < 20; call += 1) await simulator.send(recipient);
    await simulator.control('DELETE', `wabas/${firstWaba}/holds`);
    expect((await simulator.send(recipient)).status).toBe(200);
  });

  test('several at once: the widest is told, and one can be taken back alone', async () => {
    await simulator.control('POST', `numbers/${firstNumber}/holds`, { code: 133010 });
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131064 });
    await simulator.control('POST', `wabas/${firstWaba}/holds`, { code: 131031 });
    const code = async () => (await simulator.send(recipient)).body.error?.code;
    expect(await code()).toBe(131031);
    await simulator.control('DELETE', `wabas/${firstWaba}/holds?code=131031`);
    expect(await code()).toBe(131064);
    await simulator.control('DELETE', `wabas/${firstWaba}/holds?code=131064`);
    expect(await code()).toBe(133010);
    await simulator.control('POST', 'reset');
    expect(await code()).toBeUndefined();
  });

  test('one with an end is over then, and not before', async () => {
    const { body } = await simulator.control('POST', `wabas/${secondWaba}/holds`, {
      code: 368,
      expires_in_seconds: 90,
    });
    expect(body.holds).toEqual([{ code: 368, since: startedAt, expires_at: '2026-11-20T12:01:30.000Z' }]);
    const code = async () => (await sends['stranger']?.())?.body.error.code;
    await simulator.control('POST', 'clock', { advance_seconds: 89 });
    expect(await code()).toBe(368);
    // A repeated command changes the end of the hold, but not its begin.
    const later = await simulator.control('POST', `wabas/${secondWaba}/holds`, { code: 368, expires_in_seconds: 1 });
    expect(later.body.holds).toEqual(body.holds);
    await simulator.control('POST', 'clock', { advance_seconds: 1 });
    expect(await code()).toBe(132000);
  });

  test('a number that is registered again sends, as far as that was why it could not', async () => {
    const code = async () => (await simulator.send(recipient)).body.error?.code;
    await simulator.post(`${firstNumber}/deregister`, { messaging_product: 'whatsapp' });
    await simulator.control('POST', `numbers/${firstNumber}/holds`, { code: 131045 });
    await simulator.control('POST', `numbers/${firstNumber}/holds`, { code: 131037 });
    expect(await code()).toBe(131037);
    const register = (pin: string) => simulator.post(`${firstNumber}/register`, { messaging_product: 'whatsapp', pin });
    const held = async () => {
      const { body } = await simulator.control('GET', 'overview');
      return body.numbers[0].holds.map((hold: { code: unknown }) => hold.code);
    };
    expect((await register('12345')).body.error.code).toBe(100);
    expect(await held()).toEqual([131037, 133010, 131045]);
    expect((await register('123456')).body).toEqual({ success: true });
    expect(await held()).toEqual([131037]);
  });

  test('a silent number: its messages get no answer until the client gives up; all other requests are answered', async () => {
    await simulator.control('POST', `numbers/${firstNumber}/holds`, { code: 'no_answer' });
    const patience = new AbortController();
    const waiting = fetch(`${simulator.url}/v25.0/${firstNumber}/messages`, {
      method: 'POST',
      signal: patience.signal,
      headers: { authorization: 'Bearer demo-platform-token', 'content-type': 'application/json' },
      body: JSON.stringify(messageOf('order_update')),
    });
    await expect.poll(statuses).toEqual([null]);
    expect((await simulator.get(firstNumber)).status).toBe(200);
    expect((await sends['neighbour']?.())?.status).toBe(200);
    patience.abort();
    await expect(waiting).rejects.toThrow('aborted');
    await simulator.control('DELETE', `numbers/${firstNumber}/holds?code=no_answer`);
    expect((await simulator.send(recipient)).status).toBe(200);
    expect([await accepted(), (await statuses()).at(-1)]).toEqual([2, null]);
  });
});

describe('magic recipients', () => {
  const fates: Record<string, readonly unknown[]> = {
    '15550131026': ['accepted', 'accepted'],
    '15550231026': ['400 131026', '400 131026'],
    '15550131042': ['accepted', 'accepted'],
    '15550131049': ['accepted', 'accepted'],
    '15550231049': ['accepted', 'accepted'],
    '15550131050': ['accepted', 'accepted'],
    '15550231050': ['accepted', 'accepted'],
    '15550131053': ['accepted', 'accepted'],
    '15550131064': ['400 131064', '400 131064'],
    '15550130403': ['400 130403', '400 130403'],
    '15550137000': ['accepted', 'accepted'],
    '15550131056': ['400 131056', '400 131056'],
    '15550130429': ['400 130429', '400 130429', 'accepted', 'accepted'],
    '15550230429': ['400 130429', '400 130429', '400 130429', '400 130429'],
    '15550000190': ['401 190', '401 190'],
    '15550000500': ['500 131000', '500 131000'],
    '15550000502': ['502 <html>', '502 <html>'],
    '15550000504': ['no answer'],
    '15550000100': ['closed', 'closed'],
    '15550000200': ['closed', 'closed'],
    '15550000201': ['held_for_quality_assessment', 'held_for_quality_assessment'],
    '15550132015': ['held_for_quality_assessment', 'held_for_quality_assessment'],
    '15550135000': ['held_for_quality_assessment', 'held_for_quality_assessment'],
    '15550000202': ['paused', 'paused'],
  };
  // The simulator refuses the others, or loses them before it records them.
  const recorded = (to: string) =>
    to === '15550000200'
      ? 2
      : (fates[to] ?? []).filter((fate) => /^(?:accepted|held_\w+|paused)$/.test(String(fate))).length;

  test('the table of this test has every magic recipient', () => {
    expect(magicRecipients.map((magic) => magic.to).sort()).toEqual(Object.keys(fates).sort());
  });

  test.each(magicRecipients.map((magic) => [magic.to, magic.what]))('%s: %s', async (to) => {
    const met: unknown[] = [];
    for (const _ of fates[to] ?? []) met.push(await fateOf(to));
    expect(met).toEqual(fates[to]);
    expect((await simulator.control('GET', `messages?to=${to}`)).body.total).toBe(recorded(to));
  });

  async function fateOf(to: string): Promise<string> {
    if (to === '15550000504') return fateOfTimeOut(to);
    try {
      const { status, body } = await simulator.send(to);
      if (status === 200) return body.messages[0].message_status;
      return `${status} ${typeof body === 'string' ? body.slice(0, 6) : body.error.code}`;
    } catch {
      return 'closed';
    }
  }

  async function fateOfTimeOut(to: string): Promise<string> {
    const answer = simulator.send(to);
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(() => resolve('no answer'), 100))]);
    answer.catch(() => undefined);
    return String(first);
  }

  test('some affect only messages of a category, or with an identity key hash', async () => {
    const marketing = templateMessage('welcome_offer', validSends.welcome_offer.components, 'es');
    const toLimited = { ...marketing, to: '15550131064' };
    expect((await simulator.post(`${firstNumber}/messages`, toLimited)).status).toBe(200);
    const hashed = await simulator.send('15550137000', { recipient_identity_key_hash: 'DF2l=' });
    expectMessagingError(hashed, 400, 137000, undefined);
    expect((await simulator.send('15550137000')).status).toBe(200);
    expect((await simulator.send(recipient, { recipient_identity_key_hash: 'DF2l=' })).status).toBe(200);
  });

  test('a message that fails a check is refused for that reason, also for a magic recipient', async () => {
    const answer = await simulator.send('15550000500', { template: { name: 'no_such', language: { code: 'es' } } });
    expect(answer.body.error.code).toBe(132001);
  });
});
