import type { LeaseCounter } from '../../lib/access/budget/leased-budget.ts';

export interface MemoryLeases extends LeaseCounter {
  /** Every call, answered or not. */
  calls: number;
  /** What becomes of the next calls; answered unless told. */
  fault: 'unanswered' | 'lost_reply' | undefined;
}

/** Leases in memory, under the same condition as in DynamoDB (test/lib/access/budget/lease-store.adapter.test.ts). */
export function leasesInMemory(): MemoryLeases {
  const counters = new Map<string, number>();
  const leases: MemoryLeases = {
    calls: 0,
    fault: undefined,
    lease: async ({ clientId, window }, size, limit) => {
      leases.calls += 1;
      if (leases.fault === 'unanswered') throw new Error('unanswered');
      const key = `${clientId} ${window}`;
      const leased = counters.get(key) ?? 0;
      if (leased < limit) counters.set(key, leased + size);
      if (leases.fault === 'lost_reply') throw new Error('the reply was lost');
      return Math.min(leased, limit);
    },
  };
  return leases;
}
