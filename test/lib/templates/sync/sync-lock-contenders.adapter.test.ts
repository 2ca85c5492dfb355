import { expect, test } from 'vitest';
import { backoff } from '../../../../lib/aws/pause.ts';
import { type HeldLock, leaseMs } from '../../../../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../../../../lib/templates/sync/sync-lock-store.ts';
import { seededRandom } from '../../../support/faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';
import { thorough } from '../../../support/thorough.ts';

const locks = syncLockStore(localDocumentClient(), await freshTable('templates'), backoff(2, 30));

/** The holder's lease ends at this time of the common clock unless the holder renews it. */
interface Holder {
  readonly lock: HeldLock;
  readonly clockAheadMs: number;
  readonly roundsLeft: number;
  readonly dies: boolean;
  readonly leaseEndsMs: number;
}

const clocksApart = 'of 50 contenders with clocks up to 5 s apart no two hold the lock, 100 acquisitions over (R25)';

test(clocksApart, async () => {
  const name = 'sync#contended';
  const random = seededRandom(25);
  const acquisitions = thorough ? 100 : 10;
  const contenders = Array.from({ length: 50 }, (_, index) => ({ index, clockAheadMs: (index % 11) * 500 }));
  const fences: number[] = [];
  let holder: Holder | undefined;
  let [rounds, takenOver] = [0, 0];
  // The test moves the clock to the very end of a lease, where fast clocks are past it; only the store takes real time.
  for (let nowMs = 1_000_000; fences.length < acquisitions; nowMs += leaseMs / 5) {
    rounds += 1;
    const asked = contenders.map(async ({ index, clockAheadMs }) => {
      const contender = `client ${index}`;
      const owner = `${contender} in round ${rounds}`;
      const lock = await locks.acquire({ name, owner, contender, nowMs: nowMs + clockAheadMs });
      return lock === undefined ? [] : [{ lock, clockAheadMs }];
    });
    const winners = (await Promise.all(asked)).flat();
    expect(winners.length).toBeLessThanOrEqual(1);
    const [winner] = winners;
    // A released lock has a new holder at once.
    if (holder === undefined) expect(winners).toHaveLength(1);
    if (winner !== undefined) {
      // Only a dead holder is replaced, after its lease has ended by its own clock.
      if (holder !== undefined) expect([holder.dies, nowMs >= holder.leaseEndsMs]).toEqual([true, true]);
      if (holder !== undefined) takenOver += 1;
      fences.push(winner.lock.fence);
      const roundsLeft = random() < 0.1 ? 1 + Math.floor(random() * 3) : 0;
      holder = { ...winner, roundsLeft, dies: fences.length % 20 === 3, leaseEndsMs: nowMs + leaseMs };
    }
    if (holder === undefined || holder.dies) continue;
    const { lock, clockAheadMs, roundsLeft } = holder;
    if (roundsLeft === 0) {
      await locks.release(lock, nowMs + clockAheadMs);
      holder = undefined;
    } else {
      expect(await locks.heartbeat(lock, nowMs + clockAheadMs)).toBe(true);
      holder = { ...holder, roundsLeft: roundsLeft - 1, leaseEndsMs: nowMs + leaseMs };
    }
  }
  expect(fences).toEqual(Array.from({ length: acquisitions }, (_, index) => index + 1));
  expect(takenOver).toBe(thorough ? 5 : 1);
}, 240_000);
