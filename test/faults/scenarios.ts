import type { Scenario } from './explorer.ts';
import { dispatchMessage, startMs } from './scenario-job.ts';

interface NamedScenario extends Scenario {
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
    name: 'a message that expires meanwhile',
    messages: [dispatchMessage(0, { expiresAtMs: startMs + 1 })],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
  },
];

interface ReceiptScenario extends NamedScenario {
  /** States and events that must have been seen, or the exploration saw nothing. */
  readonly ends: readonly string[];
  readonly tells: readonly string[];
}

/** The same with a platform that tells what became of each message, and that may take what it says it did not. */
export const receiptScenarios: readonly ReceiptScenario[] = [
  {
    name: 'an answer that is lost, two faults',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 2,
    faults: 2,
    batchSize: 1,
    platform: ['accepted', 'lost_after'],
    receipts: { statuses: ['delivered'], deliveries: 2, runs: 1, dispatchRuns: 1 },
    ends: ['delivered', 'unknown'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'a message taken that was refused as too many, two faults',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 3,
    faults: 2,
    batchSize: 1,
    platform: ['accepted', 'throttled_yet_taken'],
    receipts: { statuses: ['delivered'], deliveries: 2, runs: 1, dispatchRuns: 1 },
    ends: ['delivered', 'sent'],
    tells: [],
  },
  {
    name: 'the same with two workers',
    messages: [dispatchMessage(0), dispatchMessage(0)],
    startMs,
    deliveries: 3,
    faults: 1,
    batchSize: 1,
    platform: ['accepted', 'throttled_yet_taken', 'lost_after'],
    receipts: { statuses: ['delivered'], deliveries: 2, runs: 1, dispatchRuns: 2 },
    ends: ['delivered', 'sent', 'unknown'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'two runs of receipts at once',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 2,
    faults: 1,
    batchSize: 1,
    platform: ['accepted', 'lost_after', 'throttled_yet_taken'],
    receipts: { statuses: ['sent', 'delivered'], deliveries: 2, runs: 2, dispatchRuns: 1 },
    ends: ['delivered', 'unknown', 'sent'],
    tells: ['message.unknown', 'message.resolved'],
  },
  {
    name: 'a failure that is told later, and a message that is held',
    messages: [dispatchMessage(0)],
    startMs,
    deliveries: 2,
    faults: 1,
    batchSize: 1,
    platform: ['accepted', 'held', 'lost_after', 'throttled_yet_taken'],
    receipts: { statuses: ['failed'], deliveries: 2, runs: 1, dispatchRuns: 1 },
    ends: ['failed', 'held', 'sent', 'unknown'],
    tells: ['message.failed', 'message.held', 'message.resolved'],
  },
  {
    name: 'two messages in one batch',
    messages: [dispatchMessage(0), dispatchMessage(1)],
    startMs,
    deliveries: 3,
    faults: 1,
    batchSize: 2,
    platform: ['accepted', 'lost_after', 'throttled_yet_taken'],
    receipts: { statuses: ['delivered'], deliveries: 2, runs: 1, dispatchRuns: 1 },
    ends: ['delivered', 'unknown', 'sent'],
    tells: ['message.unknown', 'message.resolved'],
  },
];
