import { SyncLockLost } from '../model/sync-lock-lost.ts';

/**
 * The lock allows one synchronization at a time (D22): a lease that its holder renews, and a fencing number that every
 * template write checks, so that a paused holder does no harm. sync-lock-state.ts decides who is next.
 */

/** A holder without a heartbeat for this long has lost the lock. */
export const leaseMs = 50_000;

/**
 * A contender takes over only this long after the lease's end, for clock skew, so a crashed worker frees the lock
 * within 55 s (D22: within a minute).
 */
export const clockSkewMs = 5_000;

/** No single step of the work may take longer. */
export const heartbeatEveryMs = 15_000;

export type SyncLockScope = 'deployment' | 'client';

/** Parses the deployment's setting. A wrong one fails at start-up. */
export function syncLockScope(setting: string): SyncLockScope {
  if (setting === 'deployment' || setting === 'client') return setting;
  throw new Error(`the scope of the synchronization lock is deployment or client, not ${setting}`);
}

export const deploymentLockName = 'sync';

export function syncLockName(scope: SyncLockScope, clientId: number): string {
  return scope === 'deployment' ? deploymentLockName : `${deploymentLockName}#${clientId}`;
}

/** Owner and fence of the latest acquisition prove that the lock is held. */
export interface HeldLock {
  readonly name: string;
  readonly owner: string;
  readonly fence: number;
}

export interface LockRequest {
  /** The owner is this attempt; its retries use the same name. */
  readonly owner: string;
  /** The contender is the client, or the scheduled walk, across all its attempts. */
  readonly contender: string;
  readonly nowMs: number;
}

export interface AcquiredLock extends HeldLock {
  /** An earlier request got it, or a write of this one whose reply was lost. */
  readonly again?: true;
}

export interface SyncLocks {
  /**
   * Returns undefined when another holds the lock or comes first. Is idempotent for the same owner. Makes one read, and
   * one write for the lock or for the queue of waiting contenders; more under contention.
   */
  acquire(request: LockRequest & { readonly name: string }): Promise<AcquiredLock | undefined>;
  /**
   * Renews the lease, even an expired one that no contender took; returns false when it is lost or released. Throws
   * when it cannot tell.
   */
  heartbeat(lock: HeldLock, nowMs: number): Promise<boolean>;
  /** Frees the lock for waiting contenders at once. Does nothing when another already holds it. */
  release(lock: HeldLock, nowMs: number): Promise<void>;
}

/** Renews the lease before it grows old; call it between any two steps. Throws `SyncLockLost`. */
export type KeepLease = () => Promise<void>;

/** Starts with a heartbeat, so that a late or duplicate message stops before it does anything. */
export async function startHeartbeat(locks: SyncLocks, lock: HeldLock, nowMs: () => number): Promise<KeepLease> {
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
