import { queueBody } from '../../lib/aws/queue-body.ts';
import { packEntries } from '../../lib/aws/sqs-batch.ts';
import { decodeRound, encodeRound } from '../../lib/messages/accept/round-message.ts';
import { type SliceKey, sliceOf } from '../../lib/messages/dispatch/slice.ts';
import type { Slices } from '../../lib/messages/dispatch/slice-store.ts';
import { holdSeconds } from '../../lib/messages/fan-out/dispatch-rounds.ts';
import { type FanOutPorts, fanOutDispatch } from '../../lib/messages/fan-out/fan-out-dispatch.ts';
import type { ChunkSink } from '../../lib/messages/fan-out/queue-chunks.ts';
import { asAccepted } from '../../lib/messages/fan-out/revalidate-dispatch.ts';
import { probeTimeoutMs } from '../../lib/messages/holds/breaker.ts';
import { type RunHoldsPorts, runHolds } from '../../lib/messages/holds/run-holds.ts';
import {
  type InboundMessage,
  type InboundSink,
  inboundMessageVersion,
} from '../../lib/messages/inbound/inbound-message.ts';
import { processInbound } from '../../lib/messages/inbound/process-inbound.ts';
import { dispatchRetrySeconds } from '../../lib/messages/pace/retry-delay.ts';
import { processReceipts } from '../../lib/messages/receipts/process-receipts.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import type { ChunkQueue } from '../../lib/messages/send/chunk-ports.ts';
import type { Posting } from '../../lib/messages/send/platform-messages.ts';
import { processBatch } from '../../lib/messages/send/process-batch.ts';
import { firstHeartbeatOf, startHeartbeat } from '../../lib/messages/send/visibility-heartbeat.ts';
import { watchDispatches } from '../../lib/messages/watch/watch.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../../lib/messages/watch/watch-message.ts';
import type { LogEvent, LogFacts } from '../../lib/observe/log.ts';
import { stopWords } from '../../lib/opt-outs/stop-words.ts';
import { defaultEventTypes, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { grouped } from '../support/flat-ports.ts';
import { noCosts } from '../support/no-costs.ts';
import { makeTemplate } from '../support/templates.ts';
import { type Addressed, platformIdOf } from './platform-model.ts';
import type { ModelDelivery, QueueModel } from './queue-model.ts';
import type { Run } from './runs.ts';
import type { WorldParts } from './world-parts.ts';

export interface RunClock {
  readonly nowMs: () => number;
  readonly remainingMs: () => number;
  readonly invocation: string;
}

export interface Consumer {
  readonly name: string;
  readonly queue: QueueModel;
  readonly workers: number;
  readonly batchSize: number;
  readonly gatherMs?: number | undefined;
  readonly timeoutMs: number;
  /** Returns the ids of messages that are to come again. */
  readonly handle: (batch: readonly ModelDelivery[], run: Run, clock: RunClock) => Promise<readonly string[]>;
}

/** Returns the consumers of a world's queues, as they are deployed. */
export function consumersOf(world: WorldParts): Consumer[] {
  const { dispatches, dispatch, small, receipts, watches, inbound } = world.queues;
  const { workers, gatherMs } = world.rules;
  const timeoutMs = 60_000;
  const gathering = gatherMs === undefined ? { workers: 100 } : { workers: 1, gatherMs };
  return [
    { name: 'fan-out', queue: dispatches, workers: 100, batchSize: 1, timeoutMs: 300_000, handle: fanOut(world) },
    { name: 'dispatch', queue: dispatch, workers, batchSize: 1, timeoutMs, handle: dispatcher(world, dispatch, false) },
    { name: 'small', queue: small, ...gathering, batchSize: 10, timeoutMs, handle: dispatcher(world, small, true) },
    { name: 'watch', queue: watches, workers: 4, batchSize: 1, timeoutMs: 120_000, handle: watcher(world) },
    { name: 'receipts', queue: receipts, workers: 10, batchSize: 500, timeoutMs: 120_000, handle: recorder(world) },
    { name: 'inbound', queue: inbound, workers: 4, batchSize: 10, timeoutMs, handle: hearer(world) },
  ];
}

function fanOut(world: WorldParts): Consumer['handle'] {
  const { dispatches: queue, dispatch } = world.queues;
  return async (batch, run, clock) => {
    const again: string[] = [];
    for (const delivery of batch) {
      const postpone = (seconds: number) => queue.changeVisibility(delivery.receiptHandle, seconds);
      const ports: FanOutPorts = {
        ...shared(world, run, clock, 'fan-out'),
        againAfterSeconds: dispatchRetrySeconds(delivery.receiveCount),
        ...world.stores.ofFanOut(run, clock.nowMs),
        queue: chunkSink(world, run, dispatch),
        watch: { sendLater: () => run.call('watch', () => undefined) },
        sendAgain: (next, seconds) => run.call('sendAgain', () => queue.send(encodeRound(next), seconds)),
        hold: () => run.call('hold', () => postpone(holdSeconds)).catch(() => undefined),
        limitOf: async () => world.rules.limitPerSecond,
        judge: async (dispatch) => asAccepted(dispatch),
        costStop: noCosts.costStop,
        countNow: noCosts.countNow,
        compose: composeMessage,
      };
      try {
        const owner = `${clock.invocation} ${delivery.receiptHandle}`;
        if ((await fanOutDispatch(decodeRound(delivery.body), owner, ports)) === 'done') continue;
      } catch {
        postpone(ports.againAfterSeconds);
      }
      again.push(delivery.messageId);
    }
    return again;
  };
}

function dispatcher(world: WorldParts, queue: QueueModel, isSmall: boolean): Consumer['handle'] {
  return async (batch, run, clock) => {
    const common = shared(world, run, clock, 'dispatch');
    const chunks = chunkQueue(world, run, queue);
    const deliveries = batch.map((delivery) => {
      return { ...delivery, attributes: { ApproximateReceiveCount: String(delivery.receiveCount) } };
    });
    const firstHold = firstHeartbeatOf(batch, { isOfSmallRequests: isSmall });
    const held = startHeartbeat(deliveries, { ...common, queue: chunks }, firstHold);
    const { states, wabas, stoppedAmong, slices, ...stores } = world.stores.ofWorker(run, clock.nowMs);
    const ports = grouped({
      ...common,
      ...stores,
      slices: noted(world, slices),
      people: { stoppedAmong, inbound: inboundSink(world, run) },
      isOfSmallRequests: isSmall,
      queue: { ...chunks, postpone: held.postpone },
      invocation: clock.invocation,
      ready: async () => undefined,
      send: (posting) => {
        noteCall(world, posting);
        return run.call('send', () => post(world, posting));
      },
      probe: () =>
        run.call('probe', async () => {
          await world.platform.read(probeTimeoutMs);
          return { maySend: true };
        }),
      newHolds: () => {
        const watchParked: RunHoldsPorts['watchParked'] = (chunk, sinceMs) =>
          run.call('watchParked', () =>
            world.queues.watches.send(queueBody(parkedWatchOf(chunk, sinceMs)), firstParkedLookSeconds),
          );
        return runHolds({ ...common, states, wabas, watchParked });
      },
    });
    const failed = await processBatch(batch, ports);
    await held.end(failed);
    return failed;
  };
}

/** Records every claim of a slice that its run knows of. */
export function noted(world: WorldParts, slices: Slices): Slices {
  return {
    ...slices,
    claim: async (claim) => {
      const taken = await slices.claim(claim);
      if (taken.kind === 'claimed') world.claimedAt.set(nameOfSlice(claim.key), world.moment());
      return taken;
    },
  };
}

export function noteCall(world: WorldParts, { request }: Posting): void {
  const messageId = messageIdIn(request);
  const end = messageId.lastIndexOf('-');
  const key = sliceOf({ dispatchId: messageId.slice(0, end), index: Number(messageId.slice(end + 1)) });
  world.calls.push({ messageId, claimedAt: world.claimedAt.get(nameOfSlice(key)) ?? 0, atMs: world.time.nowMs });
}

function nameOfSlice({ dispatchId, slice }: SliceKey): string {
  return `${dispatchId} ${slice}`;
}

export function inboundSink({ queues }: WorldParts, run: Run): InboundSink {
  return {
    send: (messages) =>
      run.call('sendInbound', () => {
        for (const message of messages) {
          queues.inbound.send(JSON.stringify({ version: inboundMessageVersion, ...message }));
        }
      }),
  };
}

/** The platform's refusal of marketing is a stop of that person, once it is recorded. */
function hearer(world: WorldParts): Consumer['handle'] {
  return async (batch, run, clock) => {
    const failed = await processInbound(batch, {
      optOuts: async () => world.stores.ofHearing(run),
      // Other tests cover the words of people and their events. This consumer records the platform's refusals only.
      words: async () => stopWords,
      channels: { findNumber: async () => undefined },
      directory: { findDid: async () => undefined },
      noteReplacedIds: async () => undefined,
      answered: async () => undefined,
      addressOf: async () => undefined,
      events: { send: async () => undefined },
      remainingMs: () => clock.remainingMs(),
    });
    for (const { messageId, body } of batch) {
      if (failed.includes(messageId)) continue;
      const { wabaId, phoneNumberId, words } = JSON.parse(body) as InboundMessage;
      for (const word of words) {
        if (word.kind !== 'refused') continue;
        const storedAt = world.moment();
        const scope = { kind: 'number', wabaId, phoneNumberId } as const;
        world.stops.push(...word.recipients.map((recipient) => ({ scope, recipient, storedAt })));
      }
    }
    return failed;
  };
}

/** Watches parked dispatches. The promises of all other dispatches are checked at the end. */
function watcher(world: WorldParts): Consumer['handle'] {
  const { watches } = world.queues;
  return async (batch, run, clock) => {
    const unused = () => Promise.reject(new Error('only parked dispatches are watched here'));
    const { events, ...common } = shared(world, run, clock, 'watch');
    return await watchDispatches(batch, {
      ...common,
      events,
      progressOf: unused,
      queue: { sendLater: unused },
      spend: noCosts.spend,
      parked: {
        ...world.stores.ofWatcher(run),
        queue: {
          sendLater: (message, seconds) => run.call('watchAgain', () => watches.send(queueBody(message), seconds)),
        },
        dispatchOf: async (dispatchId) => {
          const head = world.table.heads.get(dispatchId);
          const lots = world.accepted.find(({ dispatch }) => dispatch.head.dispatchId === dispatchId)?.dispatch.lots;
          return head && { head, lots };
        },
        templates: { storedFacts: async () => new Map() },
        keepReading: async () => undefined,
        platformTemplates: {
          find: () =>
            run.call('findTemplate', () => makeTemplate({ status: world.rules.templateStatus?.() ?? 'APPROVED' })),
        },
      },
    });
  };
}

function recorder(world: WorldParts): Consumer['handle'] {
  return async (batch, run, clock) => {
    const common = shared(world, run, clock, 'receipts');
    return await processReceipts(batch, {
      ...common,
      ...world.stores.ofReceipts(run),
      inbound: inboundSink(world, run),
      countCost: noCosts.countCost,
      wanted: async () => defaultEventTypes,
    });
  };
}

export function shared(
  { rules, logged, told }: WorldParts,
  run: Run,
  { nowMs, remainingMs }: RunClock,
  functionName: string,
) {
  return {
    nowMs,
    remainingMs,
    random: rules.random,
    pause: (ms: number) => run.pause(ms),
    log: (event: LogEvent, facts: LogFacts) => {
      logged.set(event, (logged.get(event) ?? 0) + 1);
      rules.log?.(functionName, event, facts);
    },
    events: {
      send: (events: readonly ServiceEvent[]) =>
        run.call('sendEvents', () => {
          for (const event of events) told.set(event.id, event);
        }),
    },
  };
}

function chunkQueue({ queues }: WorldParts, run: Run, queue: QueueModel): ChunkQueue {
  return {
    sendLater: (chunk, seconds, to) => {
      const isCode = chunk.urgent === true && chunk.straight === true;
      const target = isCode && to !== 'dispatches' ? queues.small : queues.dispatch;
      const body = JSON.stringify(chunk);
      return run.call('sendLater', () => target.send(body, seconds), Buffer.byteLength(body));
    },
    postpone: (handle, seconds) => run.call('postpone', () => queue.changeVisibility(handle, seconds)),
    hold: (handles, seconds) =>
      run.call('hold', () => {
        for (const handle of handles) queue.changeVisibility(handle, seconds);
      }),
  };
}

function chunkSink({ rules }: WorldParts, run: Run, queue: QueueModel): ChunkSink {
  return {
    pack: packEntries,
    sendBatch: (entries) => {
      const bytes = entries.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      const send = () => {
        // SQS may take a batch in part.
        const refused = entries.filter(() => rules.random() < (rules.repeatShare > 0 ? 0.02 : 0));
        for (const entry of entries) if (!refused.includes(entry)) queue.send(entry.body, entry.delaySeconds);
        return refused;
      };
      return run.call('sendBatch', send, bytes);
    },
  };
}

function messageIdIn(request: Posting['request']): string {
  return String(request['biz_opaque_callback_data']);
}

export async function post(
  world: WorldParts,
  { request, phoneNumberId }: Posting,
): Promise<{ platformMessageId: string }> {
  const { platform } = world;
  const messageId = messageIdIn(request);
  const before = platform.posts.length;
  try {
    return await platform.post({ messageId, phoneNumberId, to: String(request.to ?? request.recipient) });
  } finally {
    const took = platform.posts.slice(before).some((each) => each.messageId === messageId && each.taken);
    if (took) tellReceipts(world, { messageId, phoneNumberId });
  }
}

function tellReceipts({ table, queues, rules, time }: WorldParts, post: Addressed): void {
  const { messageId } = post;
  const end = messageId.lastIndexOf('-');
  const head = table.heads.get(messageId.slice(0, end));
  if (head === undefined) return;
  const { dispatchId, wabaId, phoneNumberId } = head;
  const index = Number(messageId.slice(end + 1));
  for (const { afterMs, ...told } of rules.receiptsOf(post)) {
    const platformMessageId = platformIdOf(messageId);
    const receipt = { dispatchId, index, ...told, atMs: time.nowMs + afterMs, platformMessageId };
    const message: ReceiptMessage = { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receipt] }] };
    void time.sleep(afterMs).then(() => queues.receipts.send(JSON.stringify(message)));
  }
}
