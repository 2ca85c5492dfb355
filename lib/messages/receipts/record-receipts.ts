import * as v from 'valibot';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { Claim, DispatchKey } from '../dispatch/claim.ts';
import { dispatchIdOf, type JobHead } from '../job.ts';
import { countable, type ReceiptsOfJob } from './countable.ts';
import { type Receipt, type ReceiptMessage, ReceiptMessageSchema } from './receipt.ts';
import { eventsOfReceipts } from './receipt-events.ts';
import type { RecordPorts } from './record-ports.ts';
import { settleClaims } from './settle-claims.ts';

interface QueuedReceipts {
  readonly messageId: string;
  readonly body: string;
}

/**
 * Works off one batch of the receipt queue, all of it together, and returns the ids of the queue messages to be delivered
 * again: those that cannot be read, and all of them when a read, a write or the event queue fails. Promises (D39): what
 * counts is appended before anything follows from it; a message with a receipt is neither sent again nor left `unknown`
 * once its run has ended; what a client asked to be told is queued before the batch is acknowledged. Repeating a run, or a
 * part of it, appends what is there already and tells the same events.
 */
export async function recordReceipts(queued: readonly QueuedReceipts[], ports: RecordPorts): Promise<string[]> {
  const messages = queued.map(({ messageId, body }) => ({ messageId, told: readMessage(body, ports) }));
  const failed = messages.filter(({ told }) => told === undefined).map(({ messageId }) => messageId);
  const readable = messages.flatMap(({ messageId, told }) => (told === undefined ? [] : [{ messageId, told }]));
  if (readable.length === 0) return failed;
  try {
    const unreadable = await recordAll(
      readable.flatMap(({ told }) => told.numbers),
      ports,
    );
    const concerned = readable.filter(({ told }) =>
      told.numbers.some(({ receipts }) => receipts.some(({ jobId }) => unreadable.has(jobId))),
    );
    return [...failed, ...concerned.map(({ messageId }) => messageId)];
  } catch (error) {
    ports.log('receipts.failed', { count: readable.length, error: nameOf(error) });
    return queued.map(({ messageId }) => messageId);
  }
}

function readMessage(body: string, ports: RecordPorts): ReceiptMessage | undefined {
  try {
    return v.parse(ReceiptMessageSchema, JSON.parse(body));
  } catch (error) {
    ports.log('receipts.unreadable', { error: nameOf(error) });
    return undefined;
  }
}

/** Returns the jobs that are there and cannot be read: their receipts wait for a version that can. */
async function recordAll(numbers: ReceiptMessage['numbers'], ports: RecordPorts): Promise<ReadonlySet<string>> {
  const jobIds = new Set(numbers.flatMap(({ receipts }) => receipts.map(({ jobId }) => jobId)));
  const found = await ports.records.findHeads([...jobIds]);
  const heads = new Map([...found].filter((entry): entry is [string, JobHead] => entry[1] !== 'unreadable'));
  const unreadable = new Set([...found.keys()].filter((jobId) => !heads.has(jobId)));
  const { jobs, dropped } = countable(
    numbers.map(({ receipts, ...number }) => ({
      ...number,
      receipts: receipts.filter(({ jobId }) => !unreadable.has(jobId)),
    })),
    heads,
    ports.nowMs(),
  );
  for (const [code, total] of dropped) {
    ports.log('receipts.dropped', { code, count: total });
    count('ReceiptsDropped', total);
  }
  for (const jobId of unreadable) ports.log('receipts.job_unreadable', { jobId });
  if (jobs.length > 0) await recordJobs(jobs, ports);
  return unreadable;
}

async function recordJobs(jobs: readonly ReceiptsOfJob[], ports: RecordPorts): Promise<void> {
  await Promise.all(jobs.map(({ head, receipts }) => ports.records.append(head, receipts)));
  const doubtful = await ports.records.doubtfulJobs(jobs.map(({ head }) => head.jobId));
  const inDoubt = jobs.filter(({ head }) => doubtful.has(head.jobId)).flatMap(({ receipts }) => keysOf(receipts));
  const resolved = await settleClaims(inDoubt, ports);
  const events = await eventsOfReceipts(jobs, byDispatchId(resolved), ports);
  if (events.length > 0) await ports.events.send(events);
  const total = jobs.reduce((sum, { receipts }) => sum + receipts.length, 0);
  ports.log('receipts.recorded', { count: total });
  count('ReceiptsRecorded', total);
}

/** The messages of these receipts, each once. */
function keysOf(receipts: readonly Receipt[]): DispatchKey[] {
  return [...new Map(receipts.map(({ jobId, index }) => [index, { jobId, index }])).values()];
}

function byDispatchId(claims: readonly Claim[]): ReadonlyMap<string, Claim> {
  return new Map(claims.map((claim) => [dispatchIdOf(claim.key), claim]));
}
