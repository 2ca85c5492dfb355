import { expect, test } from 'vitest';
import { type Delivery, type DeliveryAnswer, receiverUrl } from '../../infra/local/webhook-receiver.ts';
import { openHolds } from '../../infra/operate/see/open-holds.ts';
import { eventsReplayCommand } from '../../infra/operate/send/events.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { webhookConfigStore } from '../../lib/webhooks/config/config-store.ts';
import { eventQueue } from '../../lib/webhooks/event-queue.ts';
import { eventRecordStore } from '../../lib/webhooks/event-record-store.ts';
import { addressOf } from '../support/addresses.ts';
import { as, eventually, platform, synchronize } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eventFaults } from '../support/documented.ts';
import { eventsOfFile } from '../support/event-receiver.ts';
import { operatorAuditInMemory, silent } from '../support/operator-audit.ts';
import { runningTarget } from '../support/running-target.ts';
import { askReport, code, dispatchTo, reportOf, takenOf } from '../support/sends.ts';
import { localQueueClient } from '../support/stores.ts';
import { create, templateProbes } from '../support/template-probes.ts';

const { documentClient, tableName } = runningTarget();
const probes = templateProbes();
/** The receiver answers this; undefined is 204. */
let answer: Promise<DeliveryAnswer> | undefined;
const deliveries = eventsOfFile(undefined, () => answer);
const configure = (active: boolean) => as('supervisor1001', 'PUT /v1/webhook/config', { url: receiverUrl, active });

const told = (name: string) => deliveries.filter(({ body }) => JSON.parse(body).data.name === name);

test('a created template is told by a signed event; a replay has the same id; switched off, no event comes', async () => {
  const sinceMs = Date.now();
  const first = probes.draft();
  expect((await create(first)).status).toBe(200);
  const [delivery] = await eventually('the event', async () =>
    told(first.name).length > 0 ? told(first.name) : undefined,
  );
  expect(delivery).toMatchObject({ verified: true, webhookId: expect.stringMatching(/^evt_/) });
  expect(JSON.parse(delivery?.body ?? '')).toMatchObject({
    type: 'template.created',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    data: { name: first.name },
  });
  expect(eventFaults(delivery?.body ?? '')).toEqual([]);

  const records = eventRecordStore(documentClient, tableName('webhooks'));
  const queueUrl = Object.entries(addressOf('queueUrls')).find(([name]) => name.endsWith('-events'))?.[1] ?? '';
  const commandLine = ['--client', '1001', '--since', new Date(sinceMs).toISOString()];
  const configs = webhookConfigStore(documentClient, tableName('webhooks'));
  const { audit } = operatorAuditInMemory();
  const open = () => ({ records, configs, audit, queue: async () => eventQueue(localQueueClient(), queueUrl) });
  const quiet = { print: () => undefined, tell: () => undefined, progress: silent };
  await eventsReplayCommand(commandLine, open, { ...quiet, nowMs: Date.now });
  await eventually('it again', async () => (told(first.name).length > 1 ? true : undefined));
  expect(new Set(told(first.name).map(({ webhookId }) => webhookId)).size).toBe(1);

  await configure(false);
  const second = probes.draft();
  expect((await create(second)).status).toBe(200);
  await eventually('its record', async () => {
    for await (const page of records.pages(1001, { sinceMs, untilMs: Date.now() })) {
      if (page.some(({ data }) => 'name' in data && data.name === second.name)) return true;
    }
    return undefined;
  });
  expect(told(second.name)).toEqual([]);
});

test('a PUT with the same url brings what waits for a receiver that has failed, at once (D33)', async () => {
  await configure(true);
  const draft = probes.draft();
  // A receiver that is overloaded is paused for a minute.
  answer = Promise.resolve({ status: 429 });
  expect((await create(draft)).status).toBe(200);
  await eventually('a failed attempt', async () => (told(draft.name).length > 0 ? true : undefined));
  answer = undefined;
  const configured = await configure(true);
  expect(configured).toMatchObject({ status: 200, body: { url: receiverUrl, active: true } });
  const taken = async () => (told(draft.name).length > 1 ? true : undefined);
  await eventually('the event again', taken, 10_000);
});

test('the end of a dispatch is told with its counts, of one recipient and of several (D41)', async () => {
  await synchronize('supervisor1001');
  await configure(true);
  const ends = [await dispatchTo(['549210000001']), await dispatchTo(['549210000001', '15550000500'])];
  const completed = () =>
    deliveries.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'dispatch.completed');
  const toldOf = (id: string) => completed().find(({ data }) => data.dispatch_id === id)?.data;
  await eventually('both ends', async () => (ends.every((id) => toldOf(id) !== undefined) ? true : undefined));
  expect(toldOf(ends[0] ?? '')).toMatchObject({ total: 1, counts: { sent: 1, pending: 0 } });
  expect(toldOf(ends[1] ?? '')).toMatchObject({ total: 2, counts: { sent: 1, unknown: 1, pending: 0 } });
});

interface Trouble {
  readonly what: string;
  readonly hold: Readonly<Record<string, unknown>>;
  readonly scope: 'waba' | 'utility';
  readonly code: string;
  readonly words: readonly [restricted: string, restored: string];
  readonly to: string;
}

test.each<Trouble>([
  {
    ...{ what: 'an account that the platform disables', hold: { code: 131_031 }, scope: 'waba', code: '131031' },
    ...{ words: ['DISABLE', 'REINSTATE'], to: '549210000009' },
  },
  {
    ...{ what: 'one of which it limits UTILITY', hold: { code: 131_064, expires_in_seconds: 3_600 } },
    ...{ scope: 'utility', code: '131064', to: '549210000010' },
    words: ['RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING', 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY'],
  },
])('$what is told, and its messages wait; once it is over, that is told and they leave (D41, D46)', async (of) => {
  const wabaId = '200000000000001';
  const holds = `/_control/wabas/${wabaId}/holds`;
  const [restrictedBy, restoredBy] = of.words;
  const toldOfAccount = async (type: string, word: string) => {
    const isIt = ({ body }: Delivery) => {
      const event = JSON.parse(body);
      return event.type === type && event.data.platform_word === word;
    };
    const delivery = await eventually(type, async () => deliveries.find(isIt));
    return { delivery, data: JSON.parse(delivery.body).data };
  };
  const rowOf = async (dispatchId: string) => (await askReport(dispatchId)).body.data[0];
  const hasLeft = (dispatchId: string) => reportOf(dispatchId, ({ counts }) => counts.pending === 0);
  await configure(true);
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  try {
    await platform(`POST ${holds}`, of.hold);
    const restricted = await toldOfAccount('account.restricted', restrictedBy);
    expect(restricted.delivery).toMatchObject({ verified: true, webhookId: expect.stringMatching(/^evt_/) });
    expect(restricted.data).toMatchObject({ waba_id: wabaId, scope: of.scope, code: of.code });
    expect(restricted.data.until === undefined).toBe(of.scope === 'waba');

    const dispatchId = await dispatchTo([of.to]);
    await eventually('it waits', async () => ((await rowOf(dispatchId)).code === of.code ? true : undefined));
    expect(await rowOf(dispatchId)).toMatchObject({ state: 'pending', code: of.code });
    if (of.scope === 'utility') await hasLeft(await dispatchTo(['549210000011'], { of: code }));

    await platform(`DELETE ${holds}`);
    const restored = await toldOfAccount('account.restored', restoredBy);
    expect(restored.data).toMatchObject({ waba_id: wabaId, scope: of.scope, code: of.code });
    expect([restricted, restored].flatMap(({ delivery }) => eventFaults(delivery.body))).toEqual([]);
    await hasLeft(dispatchId);
    expect((await rowOf(dispatchId)).state).toMatch(/^(?:sent|delivered|read)$/);
    expect(await takenOf(`to=${of.to}`)).toBe(1);
  } finally {
    await platform(`DELETE ${holds}`);
    await tellAt(addressOf('platformUrl'), null);
  }
});

test('a business whose held messages are dropped waits as a whole, and goes on after its review: none lost, none twice (D46)', async () => {
  const wabaId = '200000000000001';
  const pacing = '/_control/businesses/400000000000001/pacing';
  const holds = openHolds(tableOf(documentClient, tableName('messages'), { nowMs: Date.now }));
  const endHolds = async () => {
    for (const hold of await holds.list([wabaId])) await holds.end(hold);
  };
  const [paced, waiting] = [
    ['549210000021', '549210000022', '549210000023'],
    ['549210000024', '549210000025'],
  ] as const;
  await configure(true);
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  try {
    await platform(`POST ${pacing}`, { accepts: 1 });
    const first = await dispatchTo(paced);
    const rowsIn = async (state: string) => {
      const { data } = await reportOf(first, ({ counts }) => counts[state] === 2);
      return data.filter((row: { state: string }) => row.state === state);
    };
    const held = await rowsIn('held');
    for (const row of held) expect(row).toMatchObject({ code: 'held_for_quality_assessment' });

    await platform(`POST ${pacing}/outcome`, { outcome: 'dropped' });
    const dropped = await rowsIn('failed');
    for (const row of dropped) expect(row).toMatchObject({ code: '135000', reason: expect.stringMatching(/\w/) });
    await eventually('the WABA is held', async () =>
      (await holds.list([wabaId])).find(({ scope, code }) => scope === 'waba' && code === '135000'),
    );

    const second = await dispatchTo(waiting);
    const parked = await eventually('its client is told that it waits', async () =>
      deliveries.find(({ body }) => {
        const { type, data } = JSON.parse(body);
        return type === 'dispatch.parked' && data.dispatch_id === second;
      }),
    );
    expect(JSON.parse(parked.body)).toMatchObject({ data: { scope: 'waba', code: '135000' } });
    expect(eventFaults(parked.body)).toEqual([]);
    expect((await askReport(second)).body.data).toMatchObject(
      waiting.map((to) => ({ to, state: 'pending', code: '135000' })),
    );

    // The operator reports the end of the review. Without that, the hold would end after two messages, a minute apart.
    await platform(`DELETE ${pacing}`);
    await endHolds();
    const { counts } = await reportOf(second);
    expect(counts.sent + counts.delivered + counts.read).toBe(waiting.length);
    for (const to of [...paced, ...waiting]) {
      expect([to, await takenOf(`to=${to}`)]).toEqual([to, 1]);
    }
  } finally {
    await platform(`DELETE ${pacing}`);
    await tellAt(addressOf('platformUrl'), null);
    await endHolds();
  }
}, 120_000);
