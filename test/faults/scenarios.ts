import type { DispatchMessage } from '../../lib/messages/job.ts';
import type { Scenario } from './explorer.ts';

export const startMs = 1_800_000_000_000;
export const scenarioJobId = 'J';

export function dispatchMessage(index: number, changes: Partial<DispatchMessage> = {}): DispatchMessage {
  return {
    jobId: scenarioJobId,
    index,
    clientId: 1001,
    phoneNumberId: '300000000000001',
    credential: 'main',
    path: 'messages',
    acceptedAtMs: startMs,
    attempt: 0,
    about: { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } },
    request: { to: '5491100000000' },
    ...changes,
  };
}

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
