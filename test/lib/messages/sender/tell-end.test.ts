import { expect, test } from 'vitest';
import type { DispatchProgress } from '../../../../lib/messages/sender/tell-end.ts';
import { tellEnd } from '../../../../lib/messages/sender/tell-end.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';

/** The end of a dispatch is told and its cost counted, in this order, once nothing of it is pending (D41, D58). */

const head = makeDispatchHead({
  ...{ dispatchId: '01JD0000000000000000000000', total: 2, campaignId: 10, attends: { waitTime: -1 } },
  acceptedAtMs: 1_799_999_000_000,
});

async function told(progress: DispatchProgress | undefined, countLater?: () => Promise<void>) {
  const steps: unknown[] = [];
  const events = new MemoryEvents();
  const isTold = await tellEnd(head.dispatchId, {
    progressOf: async (...asked) => {
      steps.push(asked);
      return progress;
    },
    spend: { countLater: countLater ?? (async (counted) => void steps.push(counted.dispatchId)) },
    events,
    nowMs: () => 1_800_000_000_000,
    log: (event) => void steps.push(event),
  }).catch(String);
  return { isTold, steps, events: events.sent };
}

test('an end is counted, told and logged', async () => {
  const { isTold, steps, events } = await told({ head, counts: { sent: 2, pending: 0 } });
  expect([isTold, steps]).toEqual([true, [[head.dispatchId], head.dispatchId, 'dispatch.completed']]);
  expect(events).toEqual([
    {
      id: expect.stringMatching(/^evt_/),
      clientId: 1001,
      type: 'dispatch.completed',
      timestampMs: 1_800_000_000_000,
      data: {
        ...{ dispatch_id: head.dispatchId, did: head.did, template: { name: 'order_update', language: 'en_US' } },
        ...{ campaign_id: 10, attends: { waitTime: -1 }, accepted_at: new Date(head.acceptedAtMs).toISOString() },
        ...{ total: 2, counts: expect.objectContaining({ sent: 2, failed: 0 }) },
      },
    },
  ]);
  const again = await told({ head, counts: { sent: 1, delivered: 1, pending: 0 } });
  expect(again.events.map(({ id }) => id)).toEqual(events.map(({ id }) => id));
});

test('nothing is told while messages are pending', async () => {
  const { isTold, steps, events } = await told({ head });
  expect([isTold, steps.length, events]).toEqual([false, 1, []]);
});

test('of a forgotten dispatch there is nothing to tell', async () => {
  const { isTold, steps, events } = await told(undefined);
  expect([isTold, steps.length, events]).toEqual([true, 1, []]);
});

test('no end is told that could not be counted: the next try does both', async () => {
  const failing = async () => Promise.reject(new Error('the store is away'));
  const { isTold, events } = await told({ head, counts: { sent: 2 } }, failing);
  expect([isTold, events]).toEqual(['Error: the store is away', []]);
});
