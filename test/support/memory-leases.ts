import type { Leased } from '../../lib/access/budget/lease.ts';
import type { LeaseCounter, UserMinute } from '../../lib/access/budget/leased-budget.ts';

export interface MemoryLeases extends LeaseCounter {
  /** Every call counts, answered or not. */
  calls: number;
  /** The next calls have this fate; undefined means that they are answered. */
  fault: 'unanswered' | 'lost_reply' | undefined;
}

/**
 * Keeps leases in memory under the condition of `leaseStore` in DynamoDB
 * (test/lib/access/budget/lease-store.adapter.test.ts).
 */
export function leasesInMemory(): MemoryLeases {
  const minutes = new Map<string, Map<string, number>>();
  const leases: MemoryLeases = {
    calls: 0,
    fault: undefined,
    lease: async (of, size, { half, evenAll }) => {
      const users = counted(of);
      const { all, own } = leasedIn(users, of.userId);
      const added = own === 0 || own + size <= half || (evenAll && all === own);
      if (added) users.set(of.userId, own + size);
      if (leases.fault === 'lost_reply') throw new Error('the reply was lost');
      return { added, leased: leasedIn(users, of.userId) };
    },
    look: async (at) => leasedIn(counted(at), at.userId),
  };

  /** Returns the leases of each user in a client's minute. */
  function counted({ clientId, window }: UserMinute): Map<string, number> {
    leases.calls += 1;
    if (leases.fault === 'unanswered') throw new Error('unanswered');
    const users = minutes.get(`${clientId} ${window}`) ?? new Map();
    minutes.set(`${clientId} ${window}`, users);
    return users;
  }

  return leases;
}

function leasedIn(users: ReadonlyMap<string, number>, userId: string): Leased {
  return { all: [...users.values()].reduce((sum, own) => sum + own, 0), own: users.get(userId) ?? 0 };
}
