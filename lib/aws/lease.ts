import * as v from 'valibot';

/*
 * A lease lets one run at a time do something, and ends by itself when that run dies. It is a part of an item, absent while no
 * run has it:
 *
 *   absent, or over  -> held by the run    the first that comes
 *   held by the run  -> held for longer    the run itself: a renewal, or the repetition of a write whose reply was lost
 *   held by the run  -> absent             the run, at its end
 *
 * A run that is late keeps its lease until another takes it, and each write that rests on the lease is under the condition
 * that it is still its own. So whatever a lease guards must bear that the next run begins where a dead one left it.
 *
 * What only looks like a lease:
 * - a claim, whose next owner must find out first what the dead one did: a slice, a key of idempotency;
 * - a time before which no process asks, all the same which one has set it: the platform's breaker;
 * - a question that one request asks, and whose answer holds for all until the same time (messages/resolve);
 * - a part of a client's budget, which is counted and spent (access/budget).
 */
export interface Lease<Owner = string> {
  /** Unlike any other run's. */
  readonly owner: Owner;
  /** It is over from then on: its owner has died. */
  readonly untilMs: number;
}

export const LeaseSchema = v.object({ owner: v.string(), untilMs: v.number() });

/** The lease while it is held; undefined where there is none, or where it is over. */
export function heldLease<Held extends Lease<unknown>>(lease: Held | undefined, nowMs: number): Held | undefined {
  return lease !== undefined && lease.untilMs > nowMs ? lease : undefined;
}

/** The lease that keeps an owner from taking its own: that of another run, while it is held. Undefined: it may be taken. */
export function inTheWay<Held extends Lease<unknown>>(
  lease: Held | undefined,
  owner: Held['owner'],
  nowMs: number,
): Held | undefined {
  const held = heldLease(lease, nowMs);
  return held?.owner === owner ? undefined : held;
}

/** What stands for `owner`, a word of DynamoDB's own, in the conditions below. */
export const leaseNames = { '#owner': 'owner' } as const;

/** That nothing is `inTheWay` of `:owner` at `:nowMs`, as a condition on the lease at `path` in an item, or on no item. */
export function mayTakeLease(path: string): string {
  return `(attribute_not_exists(${path}) OR ${path}.#owner = :owner OR ${path}.untilMs <= :nowMs)`;
}

/** That the lease at `path` is `:owner`'s, over or not. */
export function isOwnLease(path: string): string {
  return `${path}.#owner = :owner`;
}
