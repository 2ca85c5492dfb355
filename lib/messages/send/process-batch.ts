import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import { chunkVersion, type QueuedChunk, QueuedChunkSchema } from '../dispatch/chunk.ts';
import { noAnswerCode } from '../holds/hold.ts';
import { adaptivePace } from '../pace/adaptive-pace.ts';
import { emptySchedule } from '../pace/schedule.ts';
import { batchLog } from './batch-log.ts';
import type { ChunkWorkerPorts } from './chunk-ports.ts';
import { type GuardedRun, guardRun } from './circuit-breaker-run.ts';
import { lateness } from './deadlines.ts';
import { type Later, type PlacedChunk, placeChunks, uncalled, waitingForOpening } from './place-chunks.ts';
import type { RunPorts } from './post-message.ts';
import { processDelivery } from './process-delivery.ts';
import { withoutPlan } from './punctuality.ts';

export interface ChunkDelivery {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
}

/**
 * Returns the ids to deliver again. Never resends what the platform may have taken (R13) or a receipt proves (D39);
 * every message ends (R14, D29); an unreadable chunk fails alone (R18).
 */
export async function processBatch(deliveries: readonly ChunkDelivery[], ports: ChunkWorkerPorts): Promise<string[]> {
  const readable = deliveries.flatMap((delivery, at) => {
    const chunk = chunkOf(delivery, ports.process);
    return chunk === undefined ? [] : [{ delivery, chunk, owner: `${ports.process.invocation}/${at}` }];
  });
  const chunks = readable.map(({ chunk }) => chunk);
  const { process, ...given } = ports;
  const holds = ports.holds.ofRun();
  const guarded = await guardRun(chunks, { ...process, ...ports.holds, ...ports.platform, holds });
  if (guarded.outage !== undefined) process.log('send.platform_down', { count: chunks.length });
  const lines = batchLog(process);
  const learning = adaptivePace({ ...process, paces: ports.numbers.paces });
  const shared: RunPorts = {
    ...given,
    ...process,
    log: lines.log,
    platform: {
      ...ports.platform,
      send: ports.isOfSmallRequests ? noted(guarded.send, { ...process, learning }) : guarded.send,
    },
    learning,
    holds,
  };
  // Each message leaves in its slot (D43). Endings are recorded, then emitted (D34, D41), then acknowledged: two writes
  // for ten messages (R15).
  const places = placesOf(chunks, guarded, shared);
  const done = new Set<ChunkDelivery>();
  await Promise.all(
    readable.map(async (read, at) => {
      const place = places[at];
      if (place === undefined) return;
      const working = { ...read, place };
      if (await correlated(read.chunk.correlationId, async () => isDone(working, shared))) done.add(read.delivery);
    }),
  );
  lines.end(deliveries.length);
  await guarded.end();
  return deliveries.filter((delivery) => !done.has(delivery)).map(({ messageId }) => messageId);
}

/** The platform usually answers sooner; a longer silence would block workers that codes need (D44). */
const awaitedAfterMs = 1_000;

/** Notes a slow answer at the number: other workers of small requests would wait too. */
function noted(
  send: GuardedRun['send'],
  { pause, learning }: Pick<RunPorts, 'pause' | 'learning'>,
): GuardedRun['send'] {
  return async (posting) => {
    let isOver = false;
    void pause(awaitedAfterMs).then(async () => {
      if (!isOver) await learning.awaited(posting);
    });
    try {
      return await send(posting);
    } finally {
      isOver = true;
    }
  };
}

/** During an outage chunks wait for the platform or their opening. Expired chunks need no call and go on. */
function placesOf(chunks: readonly QueuedChunk[], { outage }: GuardedRun, ports: RunPorts) {
  if (outage === undefined) return placeChunks(chunks, ports);
  return chunks.map(async (chunk): Promise<PlacedChunk> => {
    const nowMs = ports.nowMs();
    if (lateness({ ...chunk, attempt: 0 }, nowMs) !== undefined) return uncalled(chunk, emptySchedule, nowMs);
    const closed = waitingForOpening(chunk, nowMs);
    if (closed !== undefined) return closed;
    const later = { chunk: withoutPlan(chunk), delaySeconds: outage.heldBackSeconds() };
    return outage.sinceMs + toldAfterMs > nowMs ? { kind: 'later', ...later } : await waitingForPlatform(later, ports);
  });
}

/** A shorter outage ends before a client would read about it. */
const toldAfterMs = 30_000;

/** A long outage parks the dispatch, so that events and reports show it. A stop still ends the dispatch (D53). */
async function waitingForPlatform(later: Later, ports: RunPorts): Promise<PlacedChunk> {
  const { dispatchId, wabaId } = later.chunk;
  const looking = ports.dispatches.look({ wabaId, dispatchIds: [dispatchId] }).catch(() => undefined);
  const dispatch = (await looking)?.dispatches.get(dispatchId);
  if (dispatch === undefined) return { kind: 'later', ...later };
  if (dispatch.stop !== undefined) return uncalled(later.chunk, emptySchedule, ports.nowMs());
  return { kind: 'held', reason: { code: noAnswerCode, scope: 'platform' }, dispatch, ...later };
}

interface Working {
  readonly chunk: QueuedChunk;
  readonly place: Promise<PlacedChunk>;
  readonly owner: string;
  readonly delivery: ChunkDelivery;
}

/** Works off one delivery. Returns true when acknowledged, false when it comes again, at its time if that is known. */
async function isDone({ chunk, place, owner, delivery }: Working, ports: RunPorts): Promise<boolean> {
  try {
    const end = await processDelivery({ chunk, placed: await place, owner }, ports);
    if (end.kind === 'acknowledged') return true;
    if (end.afterSeconds !== undefined) {
      await ports.queue.postpone(delivery.receiptHandle, end.afterSeconds).catch((error: unknown) => {
        // The delivery comes again earlier, and is judged again then.
        ports.log('send.postpone_failed', { count: 1, error: errorName(error) });
      });
    }
  } catch (error) {
    ports.log('send.error', { error: errorName(error) });
  }
  return false;
}

function chunkOf(delivery: ChunkDelivery, { log }: Pick<RunPorts, 'log'>): QueuedChunk | undefined {
  try {
    return v.parse(QueuedChunkSchema, queuedMessage(delivery.body, chunkVersion));
  } catch (error) {
    log('send.error', { error: errorName(error) });
    return undefined;
  }
}
