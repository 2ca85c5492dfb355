import * as v from 'valibot';
import { maxDelaySeconds } from '../../aws/queue-body.ts';
import { queuedMessage } from '../../aws/queued-message.ts';
import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import { correlated } from '../../observe/correlation.ts';
import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { DispatchAge } from '../dispatch/items.ts';

// Ten thousand messages get thirty thousand receipts in hundreds of runs, and a count reads the whole dispatch. So a
// run only ensures a count after its own append.

// The item holds the time of the next count. It is written after that count is queued, so the count always comes. A
// dead run leaves a superfluous count.

/** Queued counts carry this version (D47). */
export const countVersion = 1;

/** Counts the cost of a dispatch (D58), not before `dueMs`. */
export const CountMessageSchema = v.object({
  kind: v.literal('count'),
  version: v.literal(countVersion),
  dispatchId: v.string(),
  clientId: v.number(),
  acceptedAtMs: v.number(),
  correlationId: v.optional(v.string()),
  dueMs: v.number(),
});
export type CountMessage = v.InferOutput<typeof CountMessageSchema>;

type Counted = Pick<DispatchHead, 'dispatchId' | 'clientId' | 'acceptedAtMs' | 'correlationId'>;

export function countMessageOf(
  { dispatchId, clientId, acceptedAtMs, correlationId }: Counted,
  dueMs: number,
): CountMessage {
  return { kind: 'count', version: countVersion, dispatchId, clientId, acceptedAtMs, correlationId, dueMs };
}

/** Every method rejects when the store cannot be reached. */
export interface CountMarks {
  /** Returns the time of the dispatch's last known count, strongly consistent. */
  dueMs(dispatchId: string): Promise<number | undefined>;
  mark(dispatch: Pick<DispatchHead, 'dispatchId' | keyof DispatchAge>, dueMs: number): Promise<void>;
}

export interface LaterCountPorts {
  readonly marks: CountMarks;
  readonly queue: DelayedQueue<CountMessage>;
  readonly nowMs: () => number;
}

/** Clocks may differ by this: a count that begins sooner may miss this run's append. */
const clocksApartMs = 10_000;

const soonestMs = 60_000;
const latestMs = 6 * 3_600_000;

/** Forgetting a dispatch's next count costs a read. */
const rememberedDispatches = 10_000;

/**
 * Counts grow rarer with the dispatch's age: they come after half of it, from a minute to six hours. A scheduled send's
 * age begins with its first moment (D56).
 */
export function countDelayMs(
  { acceptedAtMs, when }: Pick<DispatchHead, 'acceptedAtMs' | 'when'>,
  nowMs: number,
): number {
  return Math.min(latestMs, Math.max(soonestMs, (nowMs - (when?.fromMs ?? acceptedAtMs)) / 2));
}

/** Ensures, one dispatch at a time, a later count that sees everything written now. Caches known counts. */
export function laterCounts({ marks, queue, nowMs }: LaterCountPorts): (head: DispatchHead) => Promise<void> {
  const known = new Map<string, number>();
  const isAhead = (dueMs: number | undefined) => dueMs !== undefined && dueMs > nowMs() + clocksApartMs;
  return async (head) => {
    const { dispatchId } = head;
    if (isAhead(known.get(dispatchId))) return;
    if (known.size >= rememberedDispatches) known.clear();
    const marked = await marks.dueMs(dispatchId);
    if (marked !== undefined && isAhead(marked)) {
      known.set(dispatchId, marked);
      return;
    }
    const dueMs = nowMs() + countDelayMs(head, nowMs());
    await sendAt(countMessageOf(head, dueMs), { queue, nowMs });
    await marks.mark(head, dueMs);
    known.set(dispatchId, dueMs);
  };
}

/** Counts once it is due; before that, requeues, because SQS delays by fifteen minutes at most. */
export async function countWhenDue(
  message: CountMessage,
  {
    queue,
    nowMs,
    count,
  }: Pick<LaterCountPorts, 'queue' | 'nowMs'> & { readonly count: (dispatchId: string) => Promise<void> },
): Promise<void> {
  if (nowMs() < message.dueMs) return await sendAt(message, { queue, nowMs });
  await count(message.dispatchId);
}

async function sendAt(
  message: CountMessage,
  { queue, nowMs }: Pick<LaterCountPorts, 'queue' | 'nowMs'>,
): Promise<void> {
  const seconds = Math.ceil((message.dueMs - nowMs()) / 1_000);
  await queue.sendLater(message, Math.min(maxDelaySeconds, Math.max(0, seconds)));
}

export interface CountDelivery {
  readonly messageId: string;
  readonly body: string;
}

export interface CountingPorts {
  /** Counts now if due, else queues again. Rejects when store or queue cannot be reached. */
  readonly count: (message: CountMessage) => Promise<void>;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** Counts what is due of a batch. Returns the ids to deliver again. */
export async function countLater(deliveries: readonly CountDelivery[], ports: CountingPorts): Promise<string[]> {
  const again = await Promise.all(
    deliveries.map(async ({ messageId, body }) => {
      try {
        const message = v.parse(CountMessageSchema, queuedMessage(body, countVersion));
        await correlated(message.correlationId, () => ports.count(message));
        return [];
      } catch (error) {
        ports.log('spend.not_counted', { error: errorName(error) });
        return [messageId];
      }
    }),
  );
  return again.flat();
}
