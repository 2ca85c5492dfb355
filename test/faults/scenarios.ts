import type { Scenario } from './scenario.ts';
import { dispatchMessage, startMs } from './scenario-job.ts';

export interface NamedScenario extends Scenario {
  readonly name: string;
}

/** Bounds that are reached within seconds and hold every pair of faults on the way of three deliveries. */
export const scenarios: readonly NamedScenario[] = [
  {
    name: 'one message, two workers',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
  },
  {
    name: 'two copies of one message, also in one batch',
    messages: [dispatchMessage(0), dispatchMessage(0)],
    startMs,
    deliveries: 3,
    faults: 1,
    batchSize: 2,
  },
  {
    name: 'two messages, also in one batch',
    messages: [dispatchMessage(0), dispatchMessage(1)],
    startMs,
    deliveries: 3,
    faults: 1,
    batchSize: 2,
  },
  {
    name: 'a message that is alone in its job',
    messages: [dispatchMessage(0, { alone: true })],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
  },
  {
    name: 'a message that expires meanwhile',
    messages: [dispatchMessage(0, { expiresAtMs: startMs + 1 })],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
  },
  {
    name: 'one message whose slot is reserved, two workers',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
    paces: true,
  },
  {
    name: 'two copies whose slots are reserved, also in one batch',
    messages: [dispatchMessage(0), dispatchMessage(0)],
    startMs,
    deliveries: 2,
    faults: 1,
    batchSize: 2,
    paces: true,
  },
];

const base = { startMs, batchSize: 1 } as const;
const told = { statuses: ['delivered'], deliveries: 1, runs: 1, dispatchRuns: 1 } as const;

export interface ReceiptScenario extends NamedScenario {
  /** States and events that must have been seen, or the exploration saw nothing. */
  readonly ends: readonly string[];
  readonly tells: readonly string[];
}

/**
 * The same with a platform that tells what became of each message, and that may take what it says it did not. Two copies, or two
 * runs of a kind at once, leave room for fewer faults.
 */
export const receiptScenarios: readonly ReceiptScenario[] = [
  {
    name: 'an answer that is lost',
    ...base,
    messages: [dispatchMessage(0)],
    deliveries: 2,
    faults: 2,
    platform: ['accepted', 'lost_after'],
    receipts: { ...told, deliveries: 2 },
    ends: ['delivered', 'unknown', 'pending'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'the same of a message that is alone in its job',
    ...base,
    messages: [dispatchMessage(0, { alone: true })],
    deliveries: 2,
    faults: 1,
    platform: ['accepted', 'held', 'lost_after', 'throttled_yet_taken'],
    receipts: { ...told, deliveries: 2 },
    ends: ['delivered', 'unknown'],
    tells: ['message.unknown', 'message.resolved', 'dispatch.completed'],
  },
  {
    name: 'a message taken that was refused as one too many',
    ...base,
    messages: [dispatchMessage(0)],
    deliveries: 3,
    faults: 1,
    platform: ['accepted', 'throttled_yet_taken'],
    receipts: { ...told, deliveries: 2 },
    ends: ['delivered'],
    tells: [],
  },
  {
    name: 'a worker that is slow beside another',
    ...base,
    messages: [dispatchMessage(0), dispatchMessage(0)],
    deliveries: 2,
    faults: 0,
    receipts: { ...told, dispatchRuns: 2 },
    ends: ['delivered'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'a copy beside its original',
    ...base,
    messages: [dispatchMessage(0)],
    deliveries: 2,
    faults: 1,
    platform: ['accepted', 'throttled_yet_taken', 'lost_after'],
    receipts: { ...told, dispatchRuns: 2 },
    ends: ['delivered'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'two runs of receipts at once',
    ...base,
    messages: [dispatchMessage(0)],
    deliveries: 1,
    faults: 1,
    platform: ['accepted', 'lost_after', 'throttled_yet_taken'],
    receipts: { ...told, statuses: ['sent', 'delivered'], deliveries: 2, runs: 2 },
    ends: ['delivered', 'sent'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'a failure that is told later, and a message that is held',
    ...base,
    messages: [dispatchMessage(0)],
    deliveries: 2,
    faults: 1,
    platform: ['accepted', 'held', 'lost_after', 'throttled_yet_taken'],
    receipts: { ...told, statuses: ['failed'], deliveries: 2 },
    ends: ['failed'],
    tells: ['message.failed', 'message.held', 'message.unknown', 'message.resolved'],
  },
  {
    name: 'two messages in one batch',
    ...base,
    messages: [dispatchMessage(0), dispatchMessage(1)],
    deliveries: 2,
    faults: 1,
    batchSize: 2,
    platform: ['accepted', 'lost_after'],
    receipts: told,
    ends: ['delivered', 'unknown', 'sent'],
    tells: ['message.unknown', 'message.resolved'],
  },
];
