import { describe, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { reportStore } from '../../lib/messages/report/report-store.ts';
import { countedBy } from '../support/counted.ts';
import { longestId, makeRecipients } from '../support/made-dispatches.ts';
import { body, makeTemplate, sendable } from '../support/platform-templates.ts';
import { dispatchIdsOf } from '../support/queued-dispatches.ts';
import { sendRequest, storedDispatches } from '../support/send-requests.ts';
import { type SentRequest, sendingEndpoint, startMs } from '../support/sending.ts';
import { localDocumentClient } from '../support/stores.ts';

const templates = {
  ...sendable,
  paused: makeTemplate([body('x')], { status: 'PAUSED' }),
};
const to = '5491155550001';

/** Returns a good request for a template; its recipient gets the given params. */
function request(name: keyof typeof templates, params?: object, more: object = {}) {
  return { ...sendRequest([to], name, params), ...more };
}
const order = request('order', { body: ['Ana', '17'], buttons: ['17'] });
const plain = request('plain');

test('a request of one recipient goes straight to the workers, and its chunk carries everything (D25)', async () => {
  const { send, accepted, queueAttempts, tableAttempts } = await sendingEndpoint({ templates });
  const sent = request('order', { body: ['Ana', '17'], buttons: ['17'] }, { attends: { waitTime: -1 } });
  expect(await send(sent)).toMatchObject({ status: 200, headers: { 'dispatch-id': 'DISPATCH1' } });
  expect(queueAttempts).toHaveLength(1);
  expect(tableAttempts.map(({ command }) => command)).toEqual(['PutItemCommand', 'UpdateItemCommand']);
  const { wakes, requests } = await accepted();
  expect(wakes).toEqual([]);
  expect(requests).toMatchObject([
    {
      head: {
        ...{ dispatchId: 'DISPATCH1', clientId: 1001, correlationId: 'r', attends: { waitTime: -1 } },
        ...{ receiptsExpected: true, total: 1 },
      },
      recipients: [{ to }],
    },
  ]);
});

test('DID and stored template are read at once, the template as the client has it for whom it is sent (D4)', async () => {
  const { send, reads } = await sendingEndpoint({ templates });
  const caller = { clientId: 1002, permissions: ['BSP_CN'] };
  expect(await send(plain, { caller, query: { client_id: '1001' } })).toMatchObject({ status: 200 });
  expect(await send(plain)).toMatchObject({ status: 200 });
  const read = { did: '5491100000001', clientId: 1001, name: 'plain', language: 'en_US' };
  expect(reads).toEqual([read, read]);
});

test('an accepted request of more than ten answers success, and its dispatch is stored with everything', async () => {
  const { send, accepted, table } = await sendingEndpoint({ templates });
  const image = { type: 'image_url', value: 'https://cdn.example.com/a.png' };
  const sent = request(
    'image',
    { body: ['Ana'] },
    {
      attends: { waitTime: -1 },
      message_send_ttl_seconds: 60,
      component: { header: image },
      recipients: makeRecipients(11).map(({ to }, at) => ({ to, params: { body: [`Ana ${at}`] } })),
    },
  );
  const answer = await send(sent, { base64: true });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(Object.keys(answer.body)).toEqual(['success']);
  expect(answer.headers['dispatch-id']).toBe('DISPATCH1');
  expect(await accepted()).toEqual({
    wakes: [{ phoneNumberId: '300000000000001', dispatchId: 'DISPATCH1', part: 0, of: 1, delaySeconds: 0 }],
    requests: [],
  });
  // The head and the plan are those of test/lib/messages/accept/check-send.test.ts and request/compose.test.ts.
  expect(await storedDispatches(table).find('DISPATCH1')).toMatchObject({
    head: {
      dispatchId: 'DISPATCH1',
      correlationId: 'r',
      acceptedAtMs: startMs,
      expiresAtMs: startMs + 60_000,
      total: 11,
    },
    plan: { templateName: sendable.image.name, header: image },
    repeats: [],
  });
  expect(await parameterStore(tableOf(localDocumentClient(), table)).read('DISPATCH1', 0)).toEqual(sent.recipients);
});

test('receipts are expected of a dispatch on a number of which a platform app tells, and of no other (D38)', async () => {
  const { send, accepted, table } = await sendingEndpoint({ templates });
  const [few, many] = [makeRecipients(3), makeRecipients(11)];
  const other = { did: '5491100000002' };
  const lines = await countedBy(async () => {
    for (const recipients of [few, many]) {
      await send({ ...order, recipients });
      await send({ ...order, ...other, recipients }, other);
    }
    await send({ ...order, recipients: [] });
  });
  expect(lines.map((line) => line['RecipientsAccepted'])).toEqual([3, 3, 11, 11]);
  const { wakes, requests } = await accepted();
  const stored = await Promise.all(wakes.map(({ dispatchId = '' }) => storedDispatches(table).find(dispatchId)));
  const expectations = new Map([
    ['5491100000001', true],
    [other.did, undefined],
  ]);
  expect(new Map(stored.map((dispatch) => [dispatch?.head.did, dispatch?.head.receiptsExpected]))).toEqual(
    expectations,
  );
  expect(new Map(requests.map(({ head }) => [head.did, head.receiptsExpected]))).toEqual(expectations);
});

test.each([
  ['numbers', (to: string) => to],
  ['user ids of the longest kind, which pack badly', longestId],
])('10,000 recipients by %s are one queue request, and each can leave once it is sent', async (_, addressOf) => {
  const { send, accepted, queueAttempts, table } = await sendingEndpoint({ templates });
  const recipients = makeRecipients(10_000).map((recipient) => ({ ...recipient, to: addressOf(recipient.to) }));
  expect(await send({ ...order, recipients })).toMatchObject({ status: 200, body: { success: true } });
  expect(queueAttempts).toHaveLength(1);
  expect((await dispatchIdsOf(await accepted(), localDocumentClient(), table)).size).toBe(10_000);
  const report = reportStore(tableOf(localDocumentClient(), table, { nowMs: () => startMs }));
  const described = await report.findDescribed('DISPATCH1');
  expect([...(described?.recipients.values() ?? [])]).toEqual(recipients.map(({ to }) => to));
});

test('checks come in their order: the first fault of a request with all of them is the one that is told, and nothing is queued (D5)', async () => {
  const { send, queueAttempts } = await sendingEndpoint({ templates });
  const foreign = {
    ...request('order'),
    did: '5511900000003',
    client_id: 1002,
    template: { name: 'nope', language: 'es' },
  };
  const steps: [unknown, SentRequest, string][] = [
    [{ ...foreign, extra: 1 }, { caller: 'none' }, 'unauthorized'],
    [{ ...foreign, extra: 1 }, {}, 'invalid_request'],
    [{ ...foreign, client_id: 'x' }, {}, 'invalid_client_id'],
    [foreign, {}, 'did_mismatch'],
    [foreign, { did: '5511900000003' }, 'cross_client_forbidden'],
    [{ ...foreign, client_id: 1001 }, { did: '5511900000003' }, 'did_forbidden'],
    [{ ...foreign, client_id: 1001, did: '5491100000001' }, {}, 'template_not_found'],
    [request('paused', { body: ['a'] }), {}, 'template_not_sendable'],
    [request('order'), {}, 'invalid_recipients'],
  ];
  const told: string[] = [];
  for (const [sent, how] of steps) told.push((await send(sent, how)).body.code);
  expect(told).toEqual(steps.map(([, , code]) => code));
  expect(queueAttempts).toEqual([]);
});

test('warnings are joined into one', async () => {
  const { send, accepted, platform, ages, table } = await sendingEndpoint({ templates });
  platform.reachable = false;
  ages.storedMs = 300_000;
  const sent = {
    ...plain,
    template: { name: 'plain', language: 'en-us' },
    campaignId: 10,
    recipients: [{ to }, { to }],
  };
  expect((await send(sent)).body).toEqual({
    success: true,
    warning:
      "campaign 10 is not among the template's assignments for this client; " +
      "language en-us was taken for the template's en_US; " +
      'duplicate recipients were dropped: recipients[1]; ' +
      'the platform could not be reached, the stored copy of the template was used',
  });
  expect((await accepted()).wakes).toMatchObject([{ dispatchId: 'DISPATCH1' }]);
  expect(await storedDispatches(table).find('DISPATCH1')).toMatchObject({
    ...{ head: { total: 1, campaignId: 10, templateLanguage: 'en_US' }, plan: { languageCode: 'en_US' } },
    repeats: [[1, 0]],
  });
});

describe('a refusal never rests on a stored copy (D23)', () => {
  const unknown = (name: string) => ({ ...plain, template: { name, language: 'es' } });

  test('a name that does not exist costs the platform one question in 10 s', async () => {
    const { send, platform, clock } = await sendingEndpoint({ templates });
    for (const [afterMs, asked] of [
      [0, 1],
      [0, 1],
      [9_000, 1],
      [1_000, 2],
      [0, 2],
    ] as const) {
      clock.nowMs += afterMs;
      expect(await send(unknown('nope'))).toMatchObject({ status: 404, body: { code: 'template_not_found' } });
      expect(platform.asked).toBe(asked);
    }
  });
});

test.each([1, 10])(
  'a queue that does not answer, for %i recipients: 502, and the same key may be used again at once',
  async (count) => {
    let broken = true;
    const { send, accepted, table } = await sendingEndpoint({
      templates,
      queueFaults: () => (broken ? 'after' : undefined),
    });
    const headers = { 'idempotency-key': 'k' };
    const asked = { ...order, recipients: makeRecipients(count) };
    expect(await send(asked, { headers })).toMatchObject({ status: 502, body: { code: 'dispatch_unavailable' } });
    broken = false;
    expect(await send(asked, { headers })).toMatchObject({ status: 200, headers: { 'dispatch-id': 'DISPATCH2' } });
    const queued = await accepted();
    expect(queued.wakes.length + queued.requests.length).toBeGreaterThan(1);
    expect(await dispatchIdsOf(queued, localDocumentClient(), table)).toEqual(
      new Set(asked.recipients.map((_each, index) => `DISPATCH2-${index}`)),
    );
  },
);

test('a dispatch that cannot be stored is refused, and nothing is queued (D25)', async () => {
  const { send, queueAttempts } = await sendingEndpoint({ templates, tableFaults: () => 'before' });
  const asked = { ...order, recipients: makeRecipients(11) };
  expect(await send(asked)).toMatchObject({ status: 502, body: { code: 'dispatch_unavailable' } });
  expect(queueAttempts).toEqual([]);
});

describe('Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order-17' };

  test('the same request again gets the same answer and dispatch id, and queues nothing', async () => {
    const { send, queueAttempts, tableAttempts } = await sendingEndpoint({ templates });
    const twice = { ...order, recipients: [...order.recipients, ...order.recipients] };
    const first = await send(twice, { headers });
    expect(first.body.warning).toContain('duplicate');
    // The key is written twice; what is stored first, the dispatch and its place in the list once each.
    expect(tableAttempts).toHaveLength(5);
    expect(await send(twice, { headers })).toEqual(first);
    expect(queueAttempts).toHaveLength(1);
  });
});
