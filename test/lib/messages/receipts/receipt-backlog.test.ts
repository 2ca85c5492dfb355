import { expect, test } from 'vitest';
import { functions } from '../../../../infra/functions.ts';
import { queues } from '../../../../infra/queues.ts';
import { type DispatchHead, messageIdOf } from '../../../../lib/messages/dispatch/head.ts';
import { processReceipts } from '../../../../lib/messages/receipts/process-receipts.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { type EventType, eventId, eventTypes, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

const many: DispatchHead = { ...scenarioHead, dispatchId: 'A', clientId: 1, total: 8_000 };
const one: DispatchHead = { ...scenarioHead, dispatchId: 'B', clientId: 2, total: 1 };
const everything = async () => new Set(eventTypes as EventType[]);
const runMs = (functions['messages-receipts']?.timeoutSeconds ?? 0) * 1_000;

function queuedReceipts(receipts: readonly Receipt[], messageId: string) {
  const { wabaId, phoneNumberId } = scenarioHead;
  return { messageId, body: JSON.stringify({ version: 1, numbers: [{ wabaId, phoneNumberId, receipts }] }) };
}

/**
 * One client's 8,000 messages have three receipts each, 60 in a queue message; behind them is another client's failure.
 */
function backlog() {
  const receipts = Array.from({ length: many.total }, (_, index) =>
    ['sent', 'delivered', 'read'].map(
      (status): Receipt => ({ dispatchId: 'A', index, status, atMs: startMs, platformMessageId: `wamid.${index}` }),
    ),
  ).flat();
  const failure: Receipt = { dispatchId: 'B', index: 0, status: 'failed', atMs: startMs, platformMessageId: 'wamid.B' };
  const steps = Array.from({ length: 400 }, (_, place) =>
    queuedReceipts(receipts.slice(place * 60, (place + 1) * 60), `A ${place}`),
  );
  const failedId = eventId('message.failed', 2, [messageIdOf(failure)]);
  const stepIds = receipts.map((each) => eventId(`message.${each.status}` as EventType, 1, [messageIdOf(each)]));
  return { waiting: [...steps, queuedReceipts([failure], 'B')], failedId, ids: [failedId, ...stepIds].sort() };
}

/** Takes 50 events a call and at most 8 seconds, as the event queue does (webhooks/event-queue.ts). */
function slowQueue(time: VirtualTime, roundMs: number) {
  const taken: string[] = [];
  const send = async (events: readonly ServiceEvent[]) => {
    const endMs = time.nowMs + 8_000;
    for (let first = 0; first < events.length; first += 50) {
      await time.sleep(roundMs);
      if (time.nowMs > endMs) throw new Error('the event queue took too long');
      taken.push(...events.slice(first, first + 50).map(({ id }) => id));
    }
  };
  return { taken, send };
}

test.each([
  [20, 1],
  [300, 2],
])(
  'a full run with an event for each receipt, on a queue of %i ms, ends; failures go first (D41)',
  async (ms, runs) => {
    const time = new VirtualTime(startMs + 1_000);
    const at = new ReceiptWorld();
    const { taken, send } = slowQueue(time, ms);
    const { waiting, failedId, ids } = backlog();
    let open = waiting;
    let run = 0;
    while (open.length > 0 && run < queues.receipts.maxReceiveCount) {
      run += 1;
      const endMs = time.nowMs + runMs;
      const changes = { wanted: everything, events: { send }, remainingMs: () => endMs - time.nowMs };
      let failed: string[] | undefined;
      const recorded = processReceipts(open, at.ports([many, one], changes)).then((ended) => {
        failed = ended;
      });
      await time.pass(() => failed !== undefined);
      await recorded;
      expect(time.nowMs).toBeLessThanOrEqual(endMs);
      open = open.filter(({ messageId }) => failed?.includes(messageId));
    }
    expect({ run, left: open.length }).toEqual({ run: runs, left: 0 });
    expect(taken[0]).toBe(failedId);
    expect([...new Set(taken)].sort()).toEqual(ids);
    // A run that ends early repeats at most the events of one queue message.
    expect(taken.length - ids.length).toBeLessThan(runs * 60);
  },
);
