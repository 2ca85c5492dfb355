import { SyncLockLost } from '../model/sync-lock-lost.ts';

/**
 * The lock that lets one synchronization run at a time (D22), as policy: a lease that its holder renews, and a fencing
 * number that grows with every acquisition and is checked by every template write, so that a holder who was
 * paused beyond its lease can do no harm. Who comes next when several want it is in sync-turns.ts.
 */

/** A holder that shows no sign of life for this long has lost the lock. */
export const leaseMs = 50_000;

/**
 * How far the clocks of two functions may lie apart: a contender takes over only this long after the lease has ended by
 * its own clock, so a crashed worker frees the lock within 55 s (D22: within a minute).
 */
export const clockSkewMs = 5_000;

/** Renew when this long has passed since the last renewal; no step of the work in between may take longer. */
export const heartbeatEveryMs = 15_000;

/** Who locks whom out: every synchronization of the deployment, or only those of the same client. */
export type SyncLockScope = 'deployment' | 'client';

/** Reads the deployment's setting. Anything else is a broken deployment: fail at start-up. */
export function syncLockScope(setting: string): SyncLockScope {
  if (setting === 'deployment' || setting === 'client') return setting;
  throw new Error(`the scope of the synchronization lock is deployment or client, not ${setting}`);
}

/** The one lock of a deployment whose synchronizations all lock each other out. */
export const deploymentLockName = 'sync';

export function syncLockName(scope: SyncLockScope, clientId: number): string {
  return scope === 'deployment' ? deploymentLockName : `${deploymentLockName}#${clientId}`;
}

/** Proof of holding: whoever presents owner and fence of the latest acquisition is the holder. */
export interface HeldLock {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

export interface LockRequest {
  /** Names this attempt, and is the same when it is repeated. */
  readonly owner: string;
  /** Who wants the lock, again and again: the client, or the scheduled walk. */
  readonly contender: string;
  readonly nowMs: number;
}

export interface AcquiredLock extends HeldLock {
  /** The owner had the lock already: since an earlier request, or by a write of this one whose reply was lost. */
  readonly again?: true;
}

export interface SyncLocks {
  /**
   * Undefined when somebody else holds the lock, or comes first. Repeating with the same owner gives the same lock again.
   * One read, and one write for the lock or to remember who was refused; more when others write at the same moment.
   */
  acquire(request: LockRequest & { readonly name: string }): Promise<AcquiredLock | undefined>;
  /** Renews the lease from now on, also one that ran out unnoticed; false when it is lost or released. Throws when it cannot say. */
  heartbeat(lock: HeldLock, nowMs: number): Promise<boolean>;
  /** Frees the lock, at once for those who wait. Nothing happens when somebody else holds it by now. */
  release(lock: HeldLock, nowMs: number): Promise<void>;
}

/** Renews the lease before it grows old; call it between any two steps. Throws `SyncLockLost`. */
export type KeepLease = () => Promise<void>;

/** Begins with a heartbeat, so that a message that arrives late or twice stops before it has done anything. */
export async function beginKeeping(locks: SyncLocks, lock: HeldLock, nowMs: () => number): Promise<KeepLease> {
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  const keepLease = async () => {
    const now = nowMs();
    if (now - renewedAtMs < heartbeatEveryMs) return;
    if (!(await locks.heartbeat(lock, now))) throw new SyncLockLost();
    renewedAtMs = now;
  };
  await keepLease();
  return keepLease;
}
