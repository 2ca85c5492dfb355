import { expect, test } from 'vitest';
import { claimLifeMs } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';

/* Whoever meets the claim of somebody else. What becomes of an old one is in dispatch.test.ts. */

const key = { jobId: 'J', index: 0 };
const young = { key, state: 'claimed', at: 'other/0', claimedAtMs: startMs } as const;
const away = Object.assign(new Error('away'), { name: 'Away' });

test('a young claim is waited out without a look at the job, which costs a read and might not be there', async () => {
  const world = new DispatchWorld();
  await world.claims.take(young);
  const ports = world.ports({ jobStates: { of: () => Promise.reject(away) } });
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
  expect(world.postponed).toEqual([{ receiptHandle: 'receipt of message-0', seconds: claimLifeMs / 1_000 }]);
});

test.each(['claimed', 'failed', 'expired'] as const)('receipts have no say where a claim is %s', async (state) => {
  const world = new DispatchWorld();
  await world.claims.take({ ...young, state });
  await dispatchBatch([deliveryOf(dispatchMessage(0))], world.ports());
  // Neither a doubt is written nor receipts are read, as for one that is unknown (D39).
  expect(world.storeCalls).toEqual(['take', 'take']);
});

test('a delivery that cannot be postponed comes again earlier, and the log says why', async () => {
  const world = new DispatchWorld();
  await world.claims.take(young);
  const base = world.ports();
  const ports = { ...base, queue: { ...base.queue, postpone: () => Promise.reject(away) } };
  expect(await dispatchBatch([deliveryOf(dispatchMessage(0))], ports)).toEqual(['message-0']);
  const facts = { dispatchId: 'J-0', error: 'Away' };
  expect(world.logged).toContainEqual({ event: 'dispatch.postpone_failed', facts });
  expect(world.posted).toEqual([]);
});
