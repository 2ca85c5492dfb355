import type { SendMessageBatchCommandInput } from '@aws-sdk/client-sqs';
import type { Context, SQSBatchResponse, SQSEvent } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { decodeSenderWake, encodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';
import { inReviewCode, opened } from '../../../../lib/messages/holds/hold.ts';
import { endedByReading } from '../../../../lib/messages/holds/hold-ends.ts';
import { holdStore } from '../../../../lib/messages/holds/hold-store.ts';
import { templateScope } from '../../../../lib/messages/holds/scope.ts';
import { countStates } from '../../../../lib/messages/report/outcome.ts';
import { outcomesStore } from '../../../../lib/messages/report/outcomes-store.ts';
import { sendBudgetMs } from '../../../../lib/messages/send/deadlines.ts';
import { backlogStore } from '../../../../lib/messages/sender/backlog-store.ts';
import { isOfPart, partMoved } from '../../../../lib/messages/sender/entry-progress.ts';
import { asAccepted } from '../../../../lib/messages/sender/revalidate-dispatch.ts';
import type { SenderPorts } from '../../../../lib/messages/sender/sender-ports.ts';
import { senderStateStore } from '../../../../lib/messages/sender/sender-state-store.ts';
import { announcedStop } from '../../../../lib/messages/sender/stop-news.ts';
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
import { livingFor, TableWorkers } from '../../../support/table-workers.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import { bytesWritten } from '../../../support/written-bytes.ts';

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

async function accept(total: number, of: Partial<DispatchHead> = {}): Promise<void> {
  const dispatch = makeDispatch(makeRecipients(total), { ...scenarioHead, total, ...of });
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
    ...given
  }: { calls?: number; sentMs?: number; body?: string; limitPerSecond?: number; lifeMs?: number } & Partial<
    Parameters<typeof tableSender>[1]
  > = {},
): Promise<SQSBatchResponse | 'killed'> {
  const { living, killed } = livingFor(calls);
  const bornMs = workers.time.nowMs;
  const handler = senderHandler(tableSender(world, { events, ...given, send, limitPerSecond }, { workers, living }));
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
const backlog = async () => await backlogStore(plainTable()).of(phoneNumberId);
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
      const { Entries = [] } = args.input as SendMessageBatchCommandInput;
      sent.push(...Entries.map(({ MessageBody = '' }) => MessageBody));
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

test('the sender of a scheduled dispatch sees its cancellation, far from its time, and tells its end (D53)', async () => {
  const when = { asked: {}, fromMs: startMs + 5 * 3_600_000 };
  await accept(25, { when });
  expect(await backlog()).toEqual([]);
  const { head } = makeDispatch(makeRecipients(25), { ...scenarioHead, total: 25, when });
  const table = plainTable();
  await announcedStop(dispatchItemStore(table).stop, backlogStore(table))(head, cancelled(startMs));
  const taken: number[] = [];
  expect(await handle(taking(taken))).toEqual({ batchItemFailures: [] });
  expect(taken).toEqual([]);
  expect(events.sent.filter(({ type }) => type === 'message.failed')).toHaveLength(25);
  expect([completed().length, await backlog()]).toEqual([1, []]);
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

test('a wake whose text is no wake comes again; one that meets a store that is away does not, as sweeps wake what is left', async () => {
  const again = { batchItemFailures: [{ itemIdentifier: 'm-1' }] };
  expect(await handle(taking([]), { body: '{"version":2}' })).toEqual(again);
  injectFaults(world.client, () => ({ kind: 'fail_before' }));
  expect(await handle(taking([]))).toEqual({ batchItemFailures: [] });
});

test('a part that stops a dispatch tells the others, which would wait for their own time (D46, D53)', async () => {
  await accept(45);
  const [entry] = await backlog();
  if (entry === undefined) throw new Error('no entry');
  const progress = { floor: 0, dueMs: startMs + 3_600_000 };
  const parts = [0, 1].map((part) => ({ part, of: 2 }));
  const [own, other] = isOfPart({ part: 0, of: 2 }, dispatchId, 0) ? parts : parts.toReversed();
  if (own === undefined || other === undefined) throw new Error('no parts');
  await backlogStore(plainTable()).change(entry, partMoved({ part: other, progress, seenNewsMs: undefined }));
  const stop = { state: 'failed', code: 'template_changed', reason: 'why' } as const;
  const judge: SenderPorts['judge'] = async () => ({ kind: 'refused', stop });
  const body = encodeSenderWake({ phoneNumberId, ...own, delaySeconds: 0 });
  await handle(taking([]), { body, limitPerSecond: 200, judge });
  const [left] = await backlog();
  expect(left?.parts?.[other.part]?.dueMs).toBeLessThanOrEqual(workers.time.nowMs);
  expect(left?.newsMs).toBeGreaterThanOrEqual(startMs);
});

test('after a review a dispatch in hand is judged again before its next message leaves (D46)', async () => {
  await accept(30);
  const { wabaId, templateName, templateLanguage } = scenarioHead;
  const scope = templateScope({ templateName, templateLanguage });
  const holds = holdStore(plainTable());
  const judgedAtMs: number[] = [];
  const judge: SenderPorts['judge'] = async (dispatch) => {
    judgedAtMs.push(workers.time.nowMs);
    if (judgedAtMs.length === 1) return asAccepted(dispatch);
    return { kind: 'refused', stop: { state: 'failed', code: 'template_changed', reason: 'why' } };
  };
  const taken: number[] = [];
  let reviewedMs = 0;
  const send: Send = async (posting) => {
    if (taken.length === 3) {
      reviewedMs = workers.time.nowMs;
      await holds.change(wabaId, opened(scope, { code: inReviewCode, nowMs: startMs, byReading: true }));
      await holds.change(wabaId, endedByReading(scope, startMs, reviewedMs));
    }
    return await taking(taken)(posting);
  };
  await handle(send, { limitPerSecond: 2, judge });
  expect(judgedAtMs).toHaveLength(2);
  expect(judgedAtMs[1]).toBeGreaterThanOrEqual(reviewedMs);
  const found = await outcomes();
  expect(taken.length).toBeLessThan(30);
  expect(found.filter(({ state }) => state === 'sent')).toHaveLength(taken.length);
  expect(found.filter(({ code }) => code === 'template_changed')).toHaveLength(30 - taken.length);
  expect([completed().length, await backlog()]).toEqual([1, []]);
});

test('thirty messages of a dispatch write at most twenty bytes of log and metrics each (R15)', async () => {
  await accept(30, { receiptsExpected: true, correlationId: '00000000-0000-4000-8000-000000000000' });
  const bytes = await bytesWritten(() => handle(taking([]), { log }));
  expect((await outcomes()).filter(({ state }) => state === 'sent')).toHaveLength(30);
  expect(bytes / 30).toBeGreaterThan(5);
  expect(bytes / 30).toBeLessThanOrEqual(20);
});

test.each([130_429, 131_056])(
  'of which every twentieth is refused for now (%i), they write no more (R15)',
  async (code) => {
    await accept(100, { receiptsExpected: true, correlationId: '00000000-0000-4000-8000-000000000000' });
    const taken: number[] = [];
    const refused = new Set<number>();
    const send: Send = async (posting) => {
      const index = indexOf(posting.request);
      if (index % 20 !== 7 || refused.has(index)) return await taking(taken)(posting);
      refused.add(index);
      const failure = new PlatformFailure('refused', { httpStatus: 400, code });
      countPlatformError(failure.metricCode);
      throw failure;
    };
    const bytes = await bytesWritten(() => handle(send, { log }));
    expect([refused.size, taken.length]).toEqual([5, 100]);
    expect(bytes / 100).toBeLessThanOrEqual(20);
  },
);

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
