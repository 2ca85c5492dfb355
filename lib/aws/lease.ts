import * as v from 'valibot';
import { absent, anyOf, atMost, type Condition, equals } from './item-write.ts';

/**
 * A lease lets one run at a time work; it is part of an item and ends by itself if the run dies. A late run keeps it
 * until another takes it, so every write checks the owner.
 */
export interface Lease<Owner = string> {
  /** Each run has an owner of its own. */
  readonly owner: Owner;
  /** The lease is over from then on. */
  readonly untilMs: number;
}

/**
 * These are no leases: a claim, whose next owner must first find out what the dead one did; the breaker's pause; a
 * question shared by requests (messages/resolve); a client's budget (access/budget).
 */
export const LeaseSchema = v.object({ owner: v.string(), untilMs: v.number() });

/** Returns the lease while it is held, else undefined. */
export function heldLease<Held extends Lease<unknown>>(lease: Held | undefined, nowMs: number): Held | undefined {
  return lease !== undefined && lease.untilMs > nowMs ? lease : undefined;
}

/** Returns another run's held lease, which blocks this owner, or undefined when the owner may take it. */
export function blockingLease<Held extends Lease<unknown>>(
  lease: Held | undefined,
  owner: Held['owner'],
  nowMs: number,
): Held | undefined {
  const held = heldLease(lease, nowMs);
  return held?.owner === owner ? undefined : held;
}

/** Returns the condition that the owner may take the lease at `path`; it also holds without an item. */
export function mayTakeLease(path: string, owner: string, nowMs: number): Condition {
  return anyOf([absent(path)], [isOwnLease(path, owner)], [atMost(`${path}.untilMs`, nowMs)]);
}

/** Returns the condition that the lease at `path` is this owner's, over or not. */
export function isOwnLease(path: string, owner: string): Condition {
  return equals(`${path}.owner`, owner);
}
