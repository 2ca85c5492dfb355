import * as v from 'valibot';
import { queuedMessage } from '../../aws/queued-message.ts';
import { errorName } from '../../observe/error-name.ts';
import { count } from '../../observe/metrics.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import { holdByReceipts } from './hold-by-receipts.ts';
import { matchReceipts } from './match-receipts.ts';
import { queueEvents } from './queue-events.ts';
import { queueRefusals } from './queue-refusals.ts';
import { type Receipt, type ReceiptMessage, ReceiptMessageSchema, receiptMessageVersion } from './receipt.ts';
import { eventKeysOf, eventsOfReceipts } from './receipt-events.ts';
import type { HeadOfDispatch, ReceiptPorts, ReceiptsOfDispatch } from './receipt-ports.ts';
import { resolvedMessages } from './resolved-messages.ts';

export interface QueuedReceipts {
  readonly messageId: string;
  readonly body: string;
}

/** One queue message alone takes this time: reads, writes, and a slice of events of 8 seconds. */
const aloneBudgetMs = 20_000;

interface ReadMessage {
  readonly messageId: string;
  readonly message: ReceiptMessage;
}

/**
 * Works off one batch and returns the ids to deliver again: unreadable messages, failed reads or writes (also alone),
 * unqueued events. Is idempotent.
 */
export async function processReceipts(queued: readonly QueuedReceipts[], ports: ReceiptPorts): Promise<string[]> {
  const messages = queued.map(({ messageId, body }) => ({ messageId, message: readMessage(body, ports) }));
  const failed = messages.filter(({ message }) => message === undefined).map(({ messageId }) => messageId);
  const readable = messages.flatMap(({ messageId, message }) =>
    message === undefined ? [] : [{ messageId, message }],
  );
  return [...failed, ...(await recordTogether(readable, ports))];
}

/**
 * A failed batch is tried message by message, once, so that one unreadable item does not send others to the dead-letter
 * queue.
 */
async function recordTogether(messages: readonly ReadMessage[], ports: ReceiptPorts): Promise<string[]> {
  try {
    return await recordAll(messages, ports);
  } catch (error) {
    ports.log('receipts.failed', { count: messages.length, error: errorName(error) });
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
    ports.log('receipts.unreadable', { error: errorName(error) });
    return undefined;
  }
}

/** Returns the messages about unreadable dispatches, and those with events left to queue. */
async function recordAll(messages: readonly ReadMessage[], ports: ReceiptPorts): Promise<string[]> {
  const numbers = messages.flatMap(({ message }) => message.numbers);
  const dispatchIds = new Set(numbers.flatMap(({ receipts }) => receipts.map(({ dispatchId }) => dispatchId)));
  const found = await ports.records.findHeads([...dispatchIds]);
  const heads = new Map([...found].filter((entry): entry is [string, HeadOfDispatch] => entry[1] !== 'unreadable'));
  const unreadable = new Set([...found.keys()].filter((dispatchId) => !heads.has(dispatchId)));
  const { dispatches, dropped } = matchReceipts(
    numbers.map(({ receipts, ...number }) => ({
      ...number,
      receipts: receipts.filter(({ dispatchId }) => !unreadable.has(dispatchId)),
    })),
    heads,
    ports.nowMs(),
  );
  for (const [code, total] of dropped) {
    ports.log('receipts.dropped', { code, count: total });
    count('ReceiptsDropped', total);
  }
  for (const dispatchId of unreadable) ports.log('receipts.dispatch_unreadable', { dispatchId });
  const events = dispatches.length === 0 ? new Map<string, ServiceEvent>() : await recordDispatches(dispatches, ports);
  const left = await queueEvents(inOrderOf(messages, events), ports);
  return messages
    .filter((message) =>
      receiptsIn(message).some(
        (each) => unreadable.has(each.dispatchId) || eventKeysOf(each).some((key) => left.has(key)),
      ),
    )
    .map(({ messageId }) => messageId);
}

/**
 * Orders events message by message: when time runs short, the first messages have all their events queued, even if the
 * queue is slow.
 */
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

function receiptsIn({ message }: ReadMessage): Receipt[] {
  return message.numbers.flatMap(({ receipts }) => receipts);
}

async function recordDispatches(
  dispatches: readonly ReceiptsOfDispatch[],
  ports: ReceiptPorts,
): Promise<ReadonlyMap<string, ServiceEvent>> {
  // Receipts are appended before anything follows (D39; items.ts, `unknownMarkKey`).
  await Promise.all(dispatches.map(({ head, receipts }) => ports.records.append(head, receipts)));
  const total = dispatches.reduce((sum, { receipts }) => sum + receipts.length, 0);
  ports.log('receipts.recorded', { count: total });
  count('ReceiptsRecorded', total);
  // Costs are counted, or scheduled to be, before the queue message is acknowledged (D58).
  await ports.countCost(dispatches);
  await holdByReceipts(dispatches, { ...ports, change: ports.changeHolds });
  await queueRefusals(dispatches, ports);
  const doubtful = await ports.records.dispatchesWithUnknown(dispatches.map(({ head }) => head.dispatchId));
  const inDoubt = dispatches.filter(({ head }) => doubtful.has(head.dispatchId)).flatMap(({ receipts }) => receipts);
  return await eventsOfReceipts(dispatches, await resolvedMessages(inDoubt, ports), ports);
}
