import { describe, expect, test } from 'vitest';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import { reportStore } from '../../lib/messages/outcomes/report-store.ts';
import { countedBy } from '../support/counted.ts';
import { dispatchIdsOf, drainJobs } from '../support/job-messages.ts';
import { body, makeTemplate, sendable } from '../support/platform-templates.ts';
import { makeRecipients } from '../support/send-jobs.ts';
import { type SentRequest, sendingEndpoint, startMs } from '../support/sending.ts';
import { localDocumentClient, localQueueClient } from '../support/stores.ts';

const templates = {
  ...sendable,
  paused: makeTemplate([body('x')], { status: 'PAUSED' }),
};
const to = '5491155550001';

/** A good request for a template; its recipients get the given params. */
function request(name: keyof typeof templates, params: unknown, more: object = {}) {
  return {
    did: '5491100000001',
    type: 'template',
    channel: 'MESSAGING',
    template: { name, language: 'en_US' },
    recipients: [params === undefined ? { to } : { to, params }],
    ...more,
  };
}
const order = request('order', { body: ['Ana', '17'], buttons: ['17'] });
const plain = request('plain', undefined);

test('a request of one recipient goes straight to the workers, and its message carries everything (D25)', async () => {
  const { send, accepted, queueAttempts, tableAttempts } = await sendingEndpoint({ templates });
  const sent = request('order', { body: ['Ana', '17'], buttons: ['17'] }, { attends: { waitTime: -1 } });
  expect(await send(sent)).toMatchObject({ status: 200, headers: { 'dispatch-id': 'JOB1' } });
  expect(queueAttempts).toHaveLength(1);
  expect(tableAttempts.map(({ command }) => command)).toEqual(['PutItemCommand', 'UpdateItemCommand']);
  const { jobs, straight, urgent } = await accepted();
  expect([jobs, urgent]).toEqual([[], []]);
  expect(straight).toMatchObject([
    {
      head: { jobId: 'JOB1', clientId: 1001, correlationId: 'r', attends: { waitTime: -1 }, total: 1 },
      message: { index: 0, version: 1, straight: true, alone: true, receiptsExpected: true, request: { to } },
    },
  ]);
});

test('an accepted request of several answers success, and its job carries everything', async () => {
  const { send, queueUrl } = await sendingEndpoint({ templates });
  const image = { type: 'image_url', value: 'https://cdn.example.com/a.png' };
  const sent = request(
    'image',
    { body: ['Ana'] },
    {
      attends: { waitTime: -1 },
      message_send_ttl_seconds: 60,
      component: { header: image },
      recipients: [
        { to, params: { body: ['Ana'] } },
        { to: '5491155550002', params: { body: ['Eva'] } },
      ],
    },
  );
  const answer = await send(sent, { base64: true });
  expect(answer).toMatchObject({ status: 200, body: { success: true } });
  expect(Object.keys(answer.body)).toEqual(['success']);
  expect(answer.headers['dispatch-id']).toBe('JOB1');
  expect(await drainJobs(localQueueClient(), queueUrl)).toEqual([
    {
      head: {
        jobId: 'JOB1',
        correlationId: 'r',
        clientId: 1001,
        did: '5491100000001',
        wabaId: '200000000000001',
        phoneNumberId: '300000000000001',
        credential: 'main',
        throughputPerSecond: 1_000,
        receiptsExpected: true,
        path: 'messages',
        templateName: sendable.image.name,
        templateLanguage: 'en_US',
        acceptedAtMs: startMs,
        expiresAtMs: startMs + 60_000,
        attends: { waitTime: -1 },
        total: 2,
      },
      plan: { templateName: sendable.image.name, languageCode: 'en_US', header: image, buttons: [], cards: [] },
      firstIndex: 0,
      recipients: sent.recipients,
    },
  ]);
});

test('receipts are expected of a job on a number of which a platform app tells, and of no other (D38)', async () => {
  const { send, queueUrl } = await sendingEndpoint({ templates });
  const recipients = makeRecipients(3);
  const lines = await countedBy(async () => {
    await send({ ...order, recipients });
    await send({ ...order, did: '5491100000002', recipients }, { did: '5491100000002' });
    await send({ ...order, recipients: [] });
  });
  expect(lines.map((line) => line['RecipientsAccepted'])).toEqual([3, 3]);
  const jobs = await drainJobs(localQueueClient(), queueUrl);
  expect(new Map(jobs.map(({ head }) => [head.did, head.receiptsExpected]))).toEqual(
    new Map([
      ['5491100000001', true],
      ['5491100000002', undefined],
    ]),
  );
});

test('10,000 recipients are one queue request and one write to the messages table', async () => {
  const { send, queueUrl, queueAttempts, tableAttempts, table } = await sendingEndpoint({ templates });
  const recipients = makeRecipients(10_000);
  expect(await send({ ...order, recipients })).toMatchObject({ status: 200, body: { success: true } });
  expect(queueAttempts).toHaveLength(1);
  expect(tableAttempts.map(({ command }) => command)).toEqual(['TransactWriteItemsCommand']);
  const jobs = await drainJobs(localQueueClient(), queueUrl);
  expect((await dispatchIdsOf(jobs, localDocumentClient(), table)).size).toBe(10_000);
});

test('checks come in their order: the first fault of a request with all of them is the one that is told, and nothing is queued (D5)', async () => {
  const { send, queueAttempts } = await sendingEndpoint({ templates });
  const foreign = {
    ...request('order', undefined),
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
    [request('order', undefined), {}, 'invalid_recipients'],
  ];
  const told: string[] = [];
  for (const [sent, how] of steps) told.push((await send(sent, how)).body.code);
  expect(told).toEqual(steps.map(([, , code]) => code));
  expect(queueAttempts).toEqual([]);
});

test('warnings are joined into one', async () => {
  const { send, platform, ages, queueUrl } = await sendingEndpoint({ templates });
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
  expect(await drainJobs(localQueueClient(), queueUrl)).toMatchObject([
    { head: { total: 1, campaignId: 10, templateLanguage: 'en_US' }, plan: { languageCode: 'en_US' } },
  ]);
});

test.each([
  ['AUTHENTICATION', true],
  ['authentication', true],
  ['MARKETING', undefined],
  ['UTILITY', undefined],
])('a template of category %s: urgent %s (D44)', async (category, urgent) => {
  const template = makeTemplate([body('Code {{1}}.')], { category });
  const { send, accepted } = await sendingEndpoint({ templates: { plain: template } });
  const recipients = [{ to: '5491100000010', params: { body: ['123456'] } }];
  expect(await send({ ...plain, recipients })).toMatchObject({ status: 200 });
  const several = [...recipients, { to: '5491100000011', params: { body: ['123457'] } }];
  expect(await send({ ...plain, recipients: several })).toMatchObject({ status: 200 });
  const queued = await accepted();
  expect(queued.jobs.map(({ head }) => head.urgent)).toEqual([urgent]);
  expect(queued[urgent ? 'urgent' : 'straight'].map(({ message }) => message.urgent)).toEqual([urgent]);
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

  test('a client has 30 questions a minute; another client of the WABA has its own', async () => {
    const { send, platform, clock } = await sendingEndpoint({ templates });
    for (let name = 0; name < 30; name += 1) expect(await send(unknown(`nope_${name}`))).toMatchObject({ status: 404 });
    const refused = await send(unknown('nope_30'));
    expect(refused).toMatchObject({ status: 429, body: { code: 'platform_rate_limited' } });
    expect(refused.headers['retry-after']).toBe('60');
    expect(platform.asked).toBe(30);
    const other = { caller: { clientId: 1002, permissions: [] } };
    expect(await send(unknown('nope_30'), other)).toMatchObject({ status: 404 });
    // What was answered is told without a question, and what needs none is sent.
    expect(await send(unknown('nope_30'))).toMatchObject({ status: 404 });
    expect(await send(order)).toMatchObject({ status: 200 });
    clock.nowMs += 60_000;
    expect(await send(unknown('nope_31'))).toMatchObject({ status: 404 });
  });
});

test.each([
  ['one recipient', [{ to, params: { body: ['Ana', '17'], buttons: ['17'] } }]],
  ['several', makeRecipients(3)],
])('a queue that does not answer, for %s: 502, and the same key may be used again at once', async (_, recipients) => {
  let broken = true;
  const { send, accepted, table } = await sendingEndpoint({
    templates,
    queueFaults: () => (broken ? 'after' : undefined),
  });
  const headers = { 'idempotency-key': 'k' };
  const asked = { ...order, recipients };
  expect(await send(asked, { headers })).toMatchObject({ status: 502, body: { code: 'dispatch_unavailable' } });
  broken = false;
  expect(await send(asked, { headers })).toMatchObject({ status: 200, headers: { 'dispatch-id': 'JOB2' } });
  const { jobs, straight } = await accepted();
  expect(jobs.length + straight.length).toBeGreaterThan(1);
  const documents = localDocumentClient();
  const sent = await dispatchIdsOf(jobs, documents, table);
  const { begin } = acceptanceStore(documents, table, () => startMs);
  for (const { message } of straight) if ((await begin(message)) === 'begun') sent.add(dispatchIdOf(message));
  expect(sent).toEqual(new Set(recipients.map((_each, index) => `JOB2-${index}`)));
});

test.each(['before', 'after'] as const)(
  'a job that cannot be described (reply or request lost: %s) is accepted, and the fan-out describes it',
  async (fault) => {
    const { send, queueUrl, table } = await sendingEndpoint({ templates, tableFaults: () => fault });
    const recipients = [...order.recipients, ...order.recipients];
    expect(await send({ ...order, recipients })).toMatchObject({ status: 200, headers: { 'dispatch-id': 'JOB1' } });
    const client = localDocumentClient();
    const report = reportStore({ client, table, nowMs: () => startMs });
    expect((await report.findDescribed('JOB1')) === undefined).toBe(fault === 'before');
    const [job] = await drainJobs(localQueueClient(), queueUrl);
    if (job === undefined) throw new Error('nothing was queued');
    await jobStore(client, table).begin(job.head, 1);
    await jobStore(client, table).describe(job);
    expect(await report.findDescribed('JOB1')).toMatchObject({
      repeats: [[1, 0]],
      recipients: new Map([[0, order.recipients[0]?.to]]),
    });
  },
);

test.each(['before', 'after'] as const)(
  'a straight message whose job cannot be begun (reply or request lost: %s) is accepted, and its worker begins it',
  async (fault) => {
    const { send, accepted, table } = await sendingEndpoint({ templates, tableFaults: () => fault });
    expect(await send(order)).toMatchObject({ status: 200, headers: { 'dispatch-id': 'JOB1' } });
    const client = localDocumentClient();
    const report = reportStore({ client, table, nowMs: () => startMs });
    expect(await report.findDescribed('JOB1')).toBeUndefined();
    const [sent] = (await accepted()).straight;
    if (sent === undefined) throw new Error('nothing was queued');
    expect(await acceptanceStore(client, table, () => startMs).begin(sent.message)).toBe('begun');
    expect(await report.findDescribed('JOB1')).toMatchObject({ recipients: new Map([[0, to]]) });
  },
);

describe('Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'order-17' };

  test('the same request again gets the same answer and dispatch id, and queues nothing', async () => {
    const { send, queueAttempts, tableAttempts } = await sendingEndpoint({ templates });
    const twice = { ...order, recipients: [...order.recipients, ...order.recipients] };
    const first = await send(twice, { headers });
    expect(first.body.warning).toContain('duplicate');
    expect(tableAttempts).toHaveLength(3);
    expect(await send(twice, { headers })).toEqual(first);
    expect(queueAttempts).toHaveLength(1);
  });

  test('an answer once given stays, whatever became of the template since', async () => {
    const mutable = { ...templates };
    const { send } = await sendingEndpoint({ templates: mutable });
    const first = await send(order, { headers });
    mutable.order = { ...templates.order, status: 'PAUSED' } as never;
    expect(await send(order, { headers })).toEqual(first);
    expect(await send(order)).toMatchObject({ status: 422 });
  });
});

test('no number, value or key is written to the log (R44)', async () => {
  const written: string[] = [];
  const write = process.stdout.write;
  process.stdout.write = ((chunk: string) => written.push(String(chunk)) > 0) as never;
  try {
    const { send } = await sendingEndpoint({ templates, queueFaults: () => 'before' });
    const canary = request('order', { body: ['canary-name', '17'], buttons: ['canary-suffix'] });
    await send(canary, { headers: { 'idempotency-key': 'canary-key' } });
    await send(canary);
  } finally {
    process.stdout.write = write;
  }
  const lines = written.filter((line) => line.includes('request.failed'));
  expect(lines).toHaveLength(2);
  expect(lines.join('')).not.toMatch(/canary|5491155550001/);
});
