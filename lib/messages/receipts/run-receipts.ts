import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { countable } from './countable.ts';
import { holdByReceipts } from './hold-by-receipts.ts';
import { queueEvents } from './queue-events.ts';
import { type Receipt, type ReceiptMessage, ReceiptMessageSchema, receiptMessageVersion } from './receipt.ts';
import { eventKeysOf, eventsOfReceipts } from './receipt-events.ts';
import type { HeadOfJob, ReceiptPorts, ReceiptsOfJob } from './receipt-ports.ts';
import { settleSlices } from './settle-slices.ts';
import { tellRefusals } from './tell-refusals.ts';

export interface QueuedReceipts {
  readonly messageId: string;
  readonly body: string;
}

/** With less time left, no queue message is tried alone: reads and writes, and a slice of events of 8 seconds. */
const aloneBudgetMs = 20_000;

/** A queue message that could be read. */
interface ReadMessage {
  readonly messageId: string;
  readonly told: ReceiptMessage;
}

/**
 * Works off one batch of the receipt queue, all of it together, and returns the ids of the queue messages to be delivered
 * again: those that cannot be read, those with an event that could not be queued in this run, and those of which a read or a
 * write failed, also by themselves. Promises (D39): what counts is appended before anything follows from it; a message with
 * a receipt is neither sent again nor left `unknown` once its run has ended; what a client asked to be told is queued, and
 * what it costs counted or to be counted (D58), before a queue message is acknowledged. Repeating a run, or a part of it, appends what is there already and tells the same events.
 */
export async function runReceipts(queued: readonly QueuedReceipts[], ports: ReceiptPorts): Promise<string[]> {
  const messages = queued.map(({ messageId, body }) => ({ messageId, told: readMessage(body, ports) }));
  const failed = messages.filter(({ told }) => told === undefined).map(({ messageId }) => messageId);
  const readable = messages.flatMap(({ messageId, told }) => (told === undefined ? [] : [{ messageId, told }]));
  return [...failed, ...(await recordTogether(readable, ports))];
}

/** What fails together is tried alone, once: one item that cannot be read must not take others to the dead letters. */
async function recordTogether(messages: readonly ReadMessage[], ports: ReceiptPorts): Promise<string[]> {
  try {
    return await recordAll(messages, ports);
  } catch (error) {
    ports.log('receipts.failed', { count: messages.length, error: nameOf(error) });
  }
  const failed: string[] = [];
  for (const message of messages) {
    const again = messages.length === 1 || ports.remainingMs() < aloneBudgetMs;
    failed.push(...(again ? [message.messageId] : await recordTogether([message], ports)));
  }
  return failed;
}

function readMessage(body: string, ports: ReceiptPorts): ReceiptMessage | undefined {
  try {
    return v.parse(ReceiptMessageSchema, queuedMessage(body, receiptMessageVersion));
  } catch (error) {
    ports.log('receipts.unreadable', { error: nameOf(error) });
    return undefined;
  }
}

/** Returns the messages about jobs that are there and cannot be read, and those of which something is still to be told. */
async function recordAll(messages: readonly ReadMessage[], ports: ReceiptPorts): Promise<string[]> {
  const numbers = messages.flatMap(({ told }) => told.numbers);
  const jobIds = new Set(numbers.flatMap(({ receipts }) => receipts.map(({ jobId }) => jobId)));
  const found = await ports.records.findHeads([...jobIds]);
  const heads = new Map([...found].filter((entry): entry is [string, HeadOfJob] => entry[1] !== 'unreadable'));
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
  const events = jobs.length === 0 ? new Map<string, ServiceEvent>() : await recordJobs(jobs, ports);
  const left = await queueEvents(inOrderOf(messages, events), ports);
  return messages
    .filter((message) =>
      receiptsIn(message).some((each) => unreadable.has(each.jobId) || eventKeysOf(each).some((key) => left.has(key))),
    )
    .map(({ messageId }) => messageId);
}

/** Message by message: when time runs short, all events of the first ones are queued, however slow the queue is. */
function inOrderOf(
  messages: readonly ReadMessage[],
  events: ReadonlyMap<string, ServiceEvent>,
): (readonly [string, ServiceEvent])[] {
  const keys = new Set(messages.flatMap(receiptsIn).flatMap(eventKeysOf));
  return [...keys].flatMap((key) => {
    const event = events.get(key);
    return event === undefined ? [] : [[key, event] as const];
  });
}

function receiptsIn({ told }: ReadMessage): Receipt[] {
  return told.numbers.flatMap(({ receipts }) => receipts);
}

/** Returns what is to be told of these receipts, by key. */
async function recordJobs(
  jobs: readonly ReceiptsOfJob[],
  ports: ReceiptPorts,
): Promise<ReadonlyMap<string, ServiceEvent>> {
  await Promise.all(jobs.map(({ head, receipts }) => ports.records.append(head, receipts)));
  const total = jobs.reduce((sum, { receipts }) => sum + receipts.length, 0);
  ports.log('receipts.recorded', { count: total });
  count('ReceiptsRecorded', total);
  await ports.countCost(jobs);
  await holdByReceipts(jobs, { ...ports, change: ports.changeHolds });
  await tellRefusals(jobs, ports);
  const doubtful = await ports.records.doubtfulJobs(jobs.map(({ head }) => head.jobId));
  const inDoubt = jobs.filter(({ head }) => doubtful.has(head.jobId)).flatMap(({ receipts }) => receipts);
  return await eventsOfReceipts(jobs, await settleSlices(inDoubt, ports), ports);
}
