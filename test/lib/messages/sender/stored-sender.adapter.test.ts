import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { decodeSenderWake, encodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';
import { countStates } from '../../../../lib/messages/report/outcome.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { sendBudgetMs } from '../../../../lib/messages/send/deadlines.ts';
import { senderBacklogStore } from '../../../../lib/messages/sender/backlog-store.ts';
import { senderStateStore } from '../../../../lib/messages/sender/sender-state-store.ts';
import { senderHandler } from '../../../../lib/messages/sender/wake-handler.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../../../support/faults.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../../../support/stores.ts';
import { type SenderWorld, tableSender } from '../../../support/table-senders.ts';
import { livingFor, TableWorkers } from '../../../support/table-workers.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';

/** A number's sender over the real stores and queue, in virtual time (R13, R14, R16, D34, D41). */

const { phoneNumberId, dispatchId } = scenarioHead;
let world: SenderWorld;
let workers: TableWorkers;
let events: MemoryEvents;
beforeEach(async () => {
  workers = new TableWorkers(startMs);
  events = new MemoryEvents();
  const [table, queueUrl] = await Promise.all([freshTable('messages'), freshQueue()]);
  world = { client: localDocumentClient(), table, queue: localQueueClient(), queueUrl };
});

const plainTable = () => tableOf(localDocumentClient(), world.table, { nowMs: () => workers.time.nowMs });

async function accept(total: number): Promise<void> {
  const dispatch = makeDispatch(makeRecipients(total), { ...scenarioHead, total });
  const dispatches = acceptedDispatchesStore(plainTable());
  await dispatches.store(dispatch, AbortSignal.timeout(5_000));
  await dispatches.begin(dispatch.head);
}

type Send = Parameters<typeof tableSender>[1]['send'];

/** Runs the function for one wake, until it ends or is killed after so many calls. */
async function handle(
  send: Send,
  {
    calls = Number.POSITIVE_INFINITY,
    sentMs = workers.time.nowMs,
    body = wake,
    limitPerSecond = 80,
    lifeMs = 120_000,
  } = {},
): Promise<SQSBatchResponse | 'killed'> {
  const { living, killed } = livingFor(calls);
  const bornMs = workers.time.nowMs;
  const handler = senderHandler(tableSender(world, { events, send, limitPerSecond }, { workers, living }));
  const Records = [{ messageId: 'm-1', body, attributes: { SentTimestamp: String(sentMs) } }];
  const context = { getRemainingTimeInMillis: () => bornMs + lifeMs - workers.time.nowMs };
  const handled = handler({ Records } as unknown as SQSEvent, context as Context);
  return await workers.pass(Promise.race([handled, killed]));
}
const wake = encodeSenderWake({ phoneNumberId, dispatchId, part: 0, of: 1, delaySeconds: 0 });

const indexOf = (request: object) =>
  Number((request as { readonly biz_opaque_callback_data?: string }).biz_opaque_callback_data?.split('-').at(-1));
const taking =
  (taken: number[]): Send =>
  async ({ request }) => {
    taken.push(indexOf(request));
    return { platformMessageId: `platform-${indexOf(request)}` };
  };

async function outcomes() {
  const reader = outcomesStore(plainTable());
  const dispatch = await reader.findStored(dispatchId);
  return dispatch === undefined ? [] : await reader.ofDispatch(dispatch);
}
const backlog = async () => await senderBacklogStore(plainTable()).of(phoneNumberId);
const lease = async () =>
  (await senderStateStore(plainTable())({ phoneNumberId, part: 0, of: 1 }).change(() => undefined)).state.lease;
const completed = () => events.sent.filter(({ type }) => type === 'dispatch.completed');

test('a wake sends a dispatch of 25: each is called once, told and recorded, and nothing waits (R15)', async () => {
  await accept(25);
  const taken: number[] = [];
  const { attempts } = injectFaults(world.client, () => undefined);
  const sent: string[] = [];
  const { queue } = world;
  queue.middlewareStack.add(
    (next) => (args) => {
      sent.push((args.input as { MessageBody: string }).MessageBody);
      return next(args);
    },
    { step: 'initialize', name: 'sent' },
  );
  expect(await handle(taking(taken))).toEqual({ batchItemFailures: [] });
  expect(taken.toSorted((one, other) => one - other)).toEqual(Array.from({ length: 25 }, (_, index) => index));
  expect((await outcomes()).map(({ state }) => state)).toEqual(Array.from({ length: 25 }, () => 'sent'));
  expect(completed()).toMatchObject([{ data: { dispatch_id: dispatchId, counts: { sent: 25 } } }]);
  expect([await backlog(), await lease()]).toEqual([[], undefined]);
  // The run's own death would have been noticed after 36 s.
  expect(sent.map(decodeSenderWake)).toEqual([{ phoneNumberId, part: 0, of: 1, delaySeconds: 36 }]);
  const writes = attempts.filter(({ command }) => command === 'PutItemCommand');
  // Three slices are claimed and ended; the client's list, a floor, the lease and its return are one write each.
  expect(writes.length).toBe(3 * 2 + 4);
});

test('a wake that finds a fresh lease is acknowledged, and calls nobody', async () => {
  await accept(25);
  const taken: number[] = [];
  const untilMs = startMs + 25_000;
  const states = senderStateStore(plainTable())({ phoneNumberId, part: 0, of: 1 });
  await states.change((before) => ({ ...before, lease: { owner: 'another', untilMs, messages: [] } }));
  expect(await handle(taking(taken))).toEqual({ batchItemFailures: [] });
  expect([taken, (await backlog()).length]).toEqual([[], 1]);
});

test.each([
  { delaySeconds: 0, isScarce: true },
  { delaySeconds: 6, isScarce: false },
])(
  'a wake of 6 s ago, delayed by $delaySeconds s: its run is a short one: $isScarce',
  async ({ delaySeconds, isScarce }) => {
    await accept(45);
    const taken: number[] = [];
    const body = encodeSenderWake({ phoneNumberId, part: 0, of: 1, delaySeconds });
    await handle(taking(taken), { body, sentMs: workers.time.nowMs - 6_000, limitPerSecond: 1 });
    // A run of 20 s leaves what it has not claimed.
    expect(taken.length < 45).toBe(isScarce);
  },
);

test('no call begins so late that the process could end before its answer', async () => {
  await accept(45);
  const lifeMs = sendBudgetMs + 4_000;
  const calledMs: number[] = [];
  const send: Send = async () => {
    calledMs.push(workers.time.nowMs - startMs);
    return { platformMessageId: 'p' };
  };
  // All 45 take five seconds and fewer calls than these.
  await handle(send, { limitPerSecond: 10, lifeMs, calls: 300 });
  expect(calledMs.length).toBeGreaterThan(5);
  expect(Math.max(...calledMs)).toBeLessThanOrEqual(lifeMs - sendBudgetMs - 2_000);
});

test('a wake comes again when its text is no wake, or the store cannot be reached', async () => {
  const again = { batchItemFailures: [{ itemIdentifier: 'm-1' }] };
  expect(await handle(taking([]), { body: '{"version":2}' })).toEqual(again);
  injectFaults(world.client, () => ({ kind: 'fail_before' }));
  expect(await handle(taking([]))).toEqual(again);
});

const databaseFaults: readonly Fault[] = [
  ...([{ kind: 'fail_before' }, { kind: 'lose_reply' }, { kind: 'throttle' }] as const),
  { kind: 'partial_batch', count: 1 },
];

test.each(firstUnlessThorough([1, 2]))(
  'under faults, with runs that are killed, seed %i: none twice, none lost, the end is told (R13, R14, R16, R32)',
  async (seed) => {
    const total = 120;
    await accept(total);
    injectFaults(world.client, seededFaults(seed, 0.04, databaseFaults));
    const random = seededRandom(seed + 100);
    const taken: number[] = [];
    const send: Send = async (posting) => {
      const fate = random();
      if (fate < 0.02) throw new PlatformFailure('refused', { code: 130_429 });
      if (fate < 0.04) throw new PlatformFailure('not_sent');
      if (fate < 0.1) throw new PlatformFailure('refused', { code: 131_026 });
      const handover = await taking(taken)(posting);
      if (fate < 0.14) throw new PlatformFailure('ambiguous');
      return handover;
    };
    let killed = 0;
    for (let round = 0; (await backlog()).length > 0; round += 1) {
      if (round > 40) throw new Error('the dispatch does not come to rest');
      // The first run dies, and some of the later ones.
      const calls = round === 0 || random() < 0.5 ? Math.ceil(random() * 150) : undefined;
      if ((await handle(send, { calls })) === 'killed') killed += 1;
      // The wake for the run's death, and later ones.
      await workers.pass(workers.time.sleep(60_000));
    }
    const found = await outcomes();
    const counts = countStates(found.map(({ state }) => state));
    expect(new Set(taken).size).toBe(taken.length);
    expect([counts.pending, counts.sent + counts.failed + counts.unknown]).toEqual([0, total]);
    for (const [index, { state }] of found.entries()) {
      if (state === 'unknown') continue;
      expect(taken.includes(index), `${index} ${state}`).toBe(state === 'sent');
    }
    expect(counts.sent).toBeGreaterThan(total / 3);
    expect(new Set(completed().map(({ id }) => id)).size).toBe(1);
    expect(killed).toBeGreaterThan(0);
  },
);
