import { BatchWriteCommand, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { beforeEach, describe, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { smallRequestBody } from '../../../../lib/messages/accept/hand-over.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { dispatchKey, recipientsKey } from '../../../../lib/messages/dispatch/items.ts';
import { encodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';
import { decodeSmallRequest } from '../../../../lib/messages/dispatch/small-request-message.ts';
import { addressesFrom, addressesOfItem } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { itemsWithout } from '../../../../lib/messages/erase/erased-items-store.ts';
import { opened } from '../../../../lib/messages/holds/hold.ts';
import { holdStore } from '../../../../lib/messages/holds/hold-store.ts';
import { numberScope } from '../../../../lib/messages/holds/scope.ts';
import { countStates } from '../../../../lib/messages/report/outcome.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { backlogStore } from '../../../../lib/messages/sender/backlog-store.ts';
import { senderStateStore } from '../../../../lib/messages/sender/sender-state-store.ts';
import {
  type DeployedSmallRequests,
  smallRequestsHandler,
} from '../../../../lib/messages/sender/small-request-handler.ts';
import { smallRequestStore } from '../../../../lib/messages/sender/small-request-store.ts';
import { senderHandler } from '../../../../lib/messages/sender/wake-handler.ts';
import { log } from '../../../../lib/observe/log.ts';
import { countPlatformError } from '../../../../lib/observe/metrics.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../../../support/faults.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../../../support/stores.ts';
import { tableSender } from '../../../support/table-senders.ts';
import type { SenderWorld } from '../../../support/table-slice-try.ts';
import { tableSmallRequests } from '../../../support/table-small-requests.ts';
import { livingFor, TableWorkers } from '../../../support/table-workers.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import { bytesWritten } from '../../../support/written-bytes.ts';

/** The worker of small requests, and its number's sender, over the real stores in virtual time (D44, R13, R14). */

const { phoneNumberId, wabaId } = scenarioHead;
let world: SenderWorld;
let workers: TableWorkers;
let events: MemoryEvents;
let taken: string[];
beforeEach(async () => {
  workers = new TableWorkers(startMs);
  events = new MemoryEvents();
  taken = [];
  const [table, queueUrl] = await Promise.all([freshTable('messages'), freshQueue()]);
  world = { client: localDocumentClient(), table, queue: localQueueClient(), queueUrl };
});

const plainTable = () => tableOf(localDocumentClient(), world.table, { nowMs: () => workers.time.nowMs });

async function bodyOf(dispatchId: string, size = 1, head: Partial<DispatchHead> = { urgent: true }): Promise<string> {
  const whole = makeDispatch(makeRecipients(size), { ...scenarioHead, dispatchId, total: size, ...head });
  const body = await smallRequestBody(whole, async () => 80);
  if (body === undefined) throw new Error('no small request');
  return body;
}

type Given = Parameters<typeof tableSmallRequests>[1];
type Send = Given['send'];
type Change = (ports: DeployedSmallRequests) => DeployedSmallRequests;
const messageOf = (request: object) =>
  String((request as { readonly biz_opaque_callback_data?: string }).biz_opaque_callback_data);
const taking: Send = async ({ request }) => {
  taken.push(messageOf(request));
  return { platformMessageId: `platform-${messageOf(request)}` };
};

/** Runs the function for these messages, until it ends or is killed after so many calls. Returns those to come again. */
async function work(
  bodies: readonly string[],
  {
    send = taking,
    calls = Number.POSITIVE_INFINITY,
    change = (ports) => ports,
    ...given
  }: Partial<Given & { calls: number; change: Change }> = {},
): Promise<readonly string[] | 'killed'> {
  const { living, killed } = livingFor(calls);
  const bornMs = workers.time.nowMs;
  const ports = tableSmallRequests(world, { events, ...given, send }, { workers, living });
  const handler = smallRequestsHandler(change(ports));
  const Records = bodies.map((body, at) => ({ messageId: String(at), receiptHandle: '', body }));
  const context = { getRemainingTimeInMillis: () => bornMs + 60_000 - workers.time.nowMs };
  const handled = handler({ Records } as unknown as SQSEvent, context as Context);
  const ended = await workers.pass(Promise.race([handled, killed]));
  return ended === 'killed' ? ended : ended.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
}

async function wakeSender(send: Send = taking, given: Partial<Given> = {}): Promise<SQSBatchResponse | 'killed'> {
  const { living } = livingFor(Number.POSITIVE_INFINITY);
  const bornMs = workers.time.nowMs;
  const handler = senderHandler(
    tableSender(world, { events, ...given, send, limitPerSecond: 80 }, { workers, living }),
  );
  const body = encodeSenderWake({ phoneNumberId, part: 0, of: 1, delaySeconds: 0 });
  const Records = [{ messageId: 'm-1', body, attributes: { SentTimestamp: String(bornMs) } }];
  const context = { getRemainingTimeInMillis: () => bornMs + 120_000 - workers.time.nowMs };
  return await workers.pass(handler({ Records } as unknown as SQSEvent, context as Context));
}

async function states(dispatchId: string) {
  const reader = outcomesStore(plainTable());
  const dispatch = await reader.findStored(dispatchId);
  return dispatch === undefined ? [] : (await reader.ofDispatch(dispatch)).map(({ state }) => state);
}
const stateOf = async (dispatchId: string) => await dispatchItemStore(plainTable()).of([dispatchId]);
const backlog = async () =>
  (await backlogStore(plainTable()).of(phoneNumberId)).map(({ dispatchId, front }) => [dispatchId, front]);
const completed = () => new Set(events.sent.filter(({ type }) => type === 'dispatch.completed').map(({ id }) => id));

async function leaseUntil(untilMs: number): Promise<void> {
  const lease = { owner: 'another', untilMs, messages: [] };
  await senderStateStore(plainTable())({ phoneNumberId, part: 0, of: 1 }).change((before) => ({ ...before, lease }));
}

test('a code of a dispatch that has begun costs its worker five requests of the store', async () => {
  const body = await bodyOf('A');
  await acceptedDispatchesStore(plainTable()).beginStraight(JSON.parse(body));
  const { attempts } = injectFaults(world.client, () => undefined);
  expect(await work([body])).toEqual([]);
  expect([taken, await states('A'), completed().size]).toEqual([['A-0'], ['sent'], 1]);
  const commands = attempts.slice(0, 5).map(({ command }) => command);
  // Number, places, claim, look, end.
  expect(commands).toEqual([
    'BatchGetItemCommand',
    'UpdateItemCommand',
    'PutItemCommand',
    'BatchGetItemCommand',
    'PutItemCommand',
  ]);
});

test.each([
  ['a lone message', 1, 410],
  ['ten requests of one', 10, 120],
])('%s: at most so many bytes of log and metrics each (R15)', async (_, count, most) => {
  const correlationId = '00000000-0000-4000-8000-00000000000';
  const bodies = Array.from({ length: count }, (_each, at) =>
    bodyOf(`01KAH00000000000000000JB0${at}`, 1, { correlationId: `${correlationId}${at}`, receiptsExpected: true }),
  );
  const given = await Promise.all(bodies);
  const bytes = await bytesWritten(() => work(given, { log }));
  expect(taken).toHaveLength(count);
  expect(bytes / count).toBeGreaterThan(5);
  expect(bytes / count).toBeLessThanOrEqual(most);
});

test.each([
  [130_429, 'sent'],
  [131_056, 'sent'],
  [131_056, 'failed'],
])(
  'a lone message that is refused for now (%i) and then %s: so many by its worker and its sender (R15)',
  async (first, end) => {
    const answers = [first, ...(end === 'failed' ? [131_026] : [])];
    const send: Send = async (posting) => {
      const code = answers.shift();
      if (code === undefined) return await taking(posting);
      const failure = new PlatformFailure('refused', { httpStatus: 400, code });
      countPlatformError(failure.metricCode);
      throw failure;
    };
    const dispatchId = '01KAH00000000000000000JB00';
    const told = { correlationId: '00000000-0000-4000-8000-000000000000', receiptsExpected: true } as const;
    const body = await bodyOf(dispatchId, 1, { urgent: true, ...told });
    expect(await bytesWritten(() => work([body], { send, log }))).toBeLessThanOrEqual(600);
    await workers.pass(workers.time.sleep(10_000));
    expect(await bytesWritten(() => wakeSender(send, { log }))).toBeLessThanOrEqual(750);
    expect(await states(dispatchId)).toEqual([end]);
  },
);

test('what cannot be begun is not called by its worker, and comes later from its sender (D25)', async () => {
  const beginStraight = async () => Promise.reject(new Error('away'));
  const change: Change = (ports) => ({ ...ports, dispatches: { ...ports.dispatches, beginStraight } });
  expect(await work([await bodyOf('A')], { change })).toEqual([]);
  expect([taken, await backlog()]).toEqual([[], [['A', true]]]);
  await workers.pass(workers.time.sleep(6_000));
  await wakeSender();
  expect([taken, await states('A')]).toEqual([['A-0'], ['sent']]);
});

test('a worker begins and lists what its acceptance could not', async () => {
  expect(await work([await bodyOf('A', 3)])).toEqual([]);
  expect([taken.length, await states('A')]).toEqual([3, ['sent', 'sent', 'sent']]);
  expect((await stateOf('A')).get('A')?.begun).toBe(true);
  expect(await backlog()).toEqual([]);
});

test('beside a sender a code has a place; another request waits in the backlog, and is sent once (D44)', async () => {
  await leaseUntil(startMs + 10_000);
  const bodies = [await bodyOf('CODE'), await bodyOf('OTHER', 4, {})];
  expect(await work(bodies)).toEqual([]);
  expect([taken, await backlog()]).toEqual([['CODE-0'], [['OTHER', undefined]]]);
  await workers.pass(workers.time.sleep(20_000));
  await wakeSender();
  expect([await states('OTHER'), await backlog(), completed().size]).toEqual([Array(4).fill('sent'), [], 2]);
  // The queue delivers twice.
  expect(await work(bodies)).toEqual([]);
  await wakeSender();
  expect([taken.length, await backlog(), completed().size]).toEqual([5, [], 2]);
});

test('a held request goes to the sender, which parks it (D46)', async () => {
  const held = { code: '131031', nowMs: startMs, untilMs: startMs + 3_600_000 };
  await holdStore(plainTable()).change(wabaId, opened(numberScope(scenarioHead), held));
  expect(await work([await bodyOf('A')])).toEqual([]);
  expect([taken, await backlog()]).toEqual([[], [['A', true]]]);
  await wakeSender();
  expect(taken).toEqual([]);
  expect((await stateOf('A')).get('A')?.parked).toMatchObject({ code: '131031' });
});

test('a withdrawn request is acknowledged, and calls nobody (D25)', async () => {
  await acceptedDispatchesStore(plainTable()).withdraw('A');
  await acceptedDispatchesStore(plainTable()).withdraw('B');
  await leaseUntil(startMs + 10_000);
  expect(await work([await bodyOf('A'), await bodyOf('B', 2, {})])).toEqual([]);
  expect([taken, await backlog(), events.sent]).toEqual([[], [], []]);
});

/** As the operator's command does first (erase/erase-dispatch-store.ts). */
async function markErased(dispatchId: string, index: number): Promise<void> {
  const mark = new UpdateCommand({
    ...{ TableName: world.table, Key: dispatchKey(dispatchId), UpdateExpression: 'ADD erased :index' },
    ExpressionAttributeValues: { ':index': new Set([index]) },
  });
  await world.client.send(mark);
}

async function addressesStored(dispatchId: string) {
  const recipients = await parameterStore(plainTable()).read(dispatchId, 0);
  const item = new GetCommand({ TableName: world.table, Key: recipientsKey(dispatchId, 0), ConsistentRead: true });
  const { addresses } = addressesOfItem((await world.client.send(item)).Item);
  return { parameters: recipients.map(({ to }) => to), addresses: addresses.map(([index]) => index) };
}

describe('a person who is erased before a request comes again (D60)', () => {
  const [first, , third] = makeRecipients(3).map(({ to }) => to);
  const left = { parameters: [first, undefined, third], addresses: [0, 2] };

  test('is not stored with the others, nor called', async () => {
    await leaseUntil(startMs + 10_000);
    const body = await bodyOf('A', 3, {});
    expect(await work([body])).toEqual([]);
    await markErased('A', 1);
    expect(await work([body])).toEqual([]);
    expect(await addressesStored('A')).toEqual(left);
    await workers.pass(workers.time.sleep(20_000));
    await wakeSender();
    expect([taken.toSorted(), await states('A')]).toEqual([
      ['A-0', 'A-2'],
      ['sent', 'failed', 'sent'],
    ]);
  });

  test('while it is being stored: a second look finds the mark', async () => {
    const { client, ...table } = plainTable();
    const send = client.send.bind(client) as (command: object) => Promise<object>;
    const marking = async (command: object) => {
      const answer = await send(command);
      if (command instanceof BatchWriteCommand) await markErased('A', 1);
      return answer;
    };
    const store = smallRequestStore({ ...table, client: { send: marking } as unknown as typeof client }, itemsWithout);
    await store.store(decodeSmallRequest(await bodyOf('A', 3, {})));
    expect(await addressesStored('A')).toEqual(left);
  });

  test('is not named where a place is free then', async () => {
    await markErased('A', 1);
    expect(await work([await bodyOf('A', 3, {})])).toEqual([]);
    const item = new GetCommand({ TableName: world.table, Key: dispatchKey('A'), ConsistentRead: true });
    const { to } = (await world.client.send(item)).Item ?? {};
    expect(addressesFrom(to).addresses.map(([index]) => index)).toEqual([0, 2]);
    expect([taken.toSorted(), await states('A')]).toEqual([
      ['A-0', 'A-2'],
      ['sent', 'failed', 'sent'],
    ]);
  });
});

test('a killed run leaves its message unknown, told 150 s after its claim (D29)', async () => {
  const body = await bodyOf('A');
  let calls = 3;
  while (taken.length === 0) {
    calls += 1;
    workers = new TableWorkers(startMs);
    world = { ...world, table: await freshTable('messages') };
    expect(await work([body], { calls })).toBe('killed');
  }
  await workers.pass(workers.time.sleep(149_000));
  expect(await work([body])).toEqual(['0']);
  await workers.pass(workers.time.sleep(2_000));
  expect(await work([body])).toEqual([]);
  expect([taken, await states('A'), completed().size]).toEqual([['A-0'], ['unknown'], 1]);
});

test('what could not be told comes again until it is, and calls nobody (D34)', async () => {
  const body = await bodyOf('A');
  const send = events.send.bind(events);
  events.send = async () => await Promise.reject(new Error('the event queue takes nothing'));
  expect(await work([body])).toEqual(['0']);
  events.send = send;
  expect(await work([body])).toEqual([]);
  expect([taken, completed().size]).toEqual([['A-0'], 1]);
});

test('an unreadable message fails alone (R18), and all of them while the store is away', async () => {
  expect(await work([await bodyOf('A'), '{', await bodyOf('B')])).toEqual(['1']);
  injectFaults(world.client, () => ({ kind: 'fail_before' }));
  expect(await work([await bodyOf('C'), await bodyOf('D')])).toEqual(['0', '1']);
});

const databaseFaults: readonly Fault[] = [
  ...([{ kind: 'fail_before' }, { kind: 'lose_reply' }, { kind: 'throttle' }] as const),
  { kind: 'partial_batch', count: 1 },
];

test.each(firstUnlessThorough([1, 2, 3]))(
  'under faults, with runs that are killed, seed %i: none twice, none lost (R13, R14, R16)',
  async (seed) => {
    injectFaults(world.client, seededFaults(seed, 0.04, databaseFaults));
    const random = seededRandom(seed + 100);
    const send: Send = async (posting) => {
      const fate = random();
      if (fate < 0.05) throw new PlatformFailure('refused', { code: 130_429 });
      if (fate < 0.1) throw new PlatformFailure('not_sent');
      const handover = await taking(posting);
      if (fate < 0.15) throw new PlatformFailure('ambiguous');
      return handover;
    };
    const ids = Array.from({ length: 12 }, (_, at) => `D${at}`);
    let open = await Promise.all(ids.map((id, at) => bodyOf(id, 1 + (at % 3), at % 2 === 0 ? { urgent: true } : {})));
    for (let round = 0; open.length > 0 || (await backlog()).length > 0; round += 1) {
      if (round > 40) throw new Error('the requests do not come to rest');
      const batch = open.slice(0, 3);
      const calls = random() < 0.3 ? Math.ceil(random() * 60) : undefined;
      const again = await work(batch, { send, calls });
      const left = again === 'killed' ? batch : batch.filter((_, at) => again.includes(String(at)));
      open = [...open.slice(3), ...left];
      await workers.pass(workers.time.sleep(40_000));
      await wakeSender(send);
      await workers.pass(workers.time.sleep(40_000));
    }
    const found = (await Promise.all(ids.map((id) => states(id)))).flat();
    const counts = countStates(found);
    expect(new Set(taken).size).toBe(taken.length);
    expect([found.length, counts.pending]).toEqual([24, 0]);
    expect(counts.sent).toBeGreaterThan(10);
    expect(completed().size).toBe(12);
  },
);
