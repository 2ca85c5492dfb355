import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import type { SendTime } from '../when/send-time.ts';
import { inTime } from './answer-deadline.ts';
import { type ReleasePorts, releaseReservation } from './cost-reservation.ts';
import { type WithdrawPorts, withdraw } from './hand-over.ts';

/** The record outlives the 24 hours that are promised (D9). */
export const rememberedMs = 48 * 3_600_000;

/** The API function times out after 29 s: a run older than this is over, however it ended. */
export const runOverMs = 35_000;

export interface IdempotencyRecord {
  readonly bodyHash: string;
  readonly dispatchId: string;
  readonly startedAtMs: number;
  readonly state: 'running' | 'done';
  readonly warning?: string;
  /** The key of a retry has the indexes of its recipients in the source (retry/retry-keys.ts). */
  readonly retries?: readonly number[];
}

export interface IdempotencyScope {
  readonly clientId: number;
  readonly did: string;
  readonly key: string;
  /** Other keys are remembered for 48 hours. */
  readonly keptUntilMs?: number;
}

export interface IdempotencyRecords {
  /** Reads strongly. */
  find(scope: IdempotencyScope): Promise<IdempotencyRecord | undefined>;
  /** Writes the record if the scope has none; else returns the existing one. */
  claim(scope: IdempotencyScope, record: IdempotencyRecord): Promise<IdempotencyRecord | undefined>;
  /** Replaces exactly `stale` by compare-and-set. Returns false when that has changed. */
  takeOver(scope: IdempotencyScope, stale: IdempotencyRecord, record: IdempotencyRecord): Promise<boolean>;
  /** Keeps the answer of exactly `run`; does nothing when another run took over. */
  complete(scope: IdempotencyScope, run: IdempotencyRecord, accepted: Accepted, signal: AbortSignal): Promise<void>;
  remove(scope: IdempotencyScope, dispatchId: string, signal: AbortSignal): Promise<void>;
}

export interface Accepted {
  readonly dispatchId: string;
  readonly warning?: string;
}

/** The dispatch id is a header, so this body lacks it. */
export const AcceptedAnswer = v.object({ success: v.literal(true), warning: v.optional(v.string()) });

export interface IdempotencyPorts extends WithdrawPorts, ReleasePorts {
  readonly records: IdempotencyRecords;
  readonly nowMs: () => number;
  readonly newDispatchId: () => string;
}

export interface KeyedRequest extends Omit<IdempotencyScope, 'key'> {
  readonly key: string | undefined;
  /** The key compares this, and the headers of a scheduled send (D9, D56). */
  readonly compared: unknown;
  readonly time: SendTime | undefined;
}

/** Accepts a request under a new dispatch id, at most once per key, if it has one. Refuses as `acceptOnce`. */
export async function acceptRequest(
  { compared, time, key, ...scope }: KeyedRequest,
  ports: IdempotencyPorts,
  accept: (dispatchId: string) => Promise<Accepted>,
): Promise<Accepted> {
  if (key === undefined) return await accept(ports.newDispatchId());
  return await acceptOnce({ ...scope, key }, { bodyHash: bodyHashOf(compared, time?.asked) }, ports, accept);
}

/**
 * Returns the same hash for equal JSON values, whatever the white space, and the same requested time to the letter
 * (D56).
 */
export function bodyHashOf(body: unknown, time?: SendTime['asked']): string {
  const asked = time === undefined ? '' : `\n${JSON.stringify(time)}`;
  return createHash('sha256')
    .update(`${JSON.stringify(body)}${asked}`)
    .digest('base64url');
}

/**
 * Runs `accept` at most once per key (D9, R21). A repeat gets the first answer; 409 while that runs, 422 for another
 * body or time (D56), 502 `dispatch_undecided` when a dead run cannot be settled. A refused run is forgotten.
 */
export async function acceptOnce(
  scope: IdempotencyScope,
  asked: Pick<IdempotencyRecord, 'bodyHash' | 'retries'>,
  ports: IdempotencyPorts,
  accept: (dispatchId: string) => Promise<Accepted>,
): Promise<Accepted> {
  const record: IdempotencyRecord = {
    ...asked,
    dispatchId: ports.newDispatchId(),
    startedAtMs: ports.nowMs(),
    state: 'running',
  };
  const found = await ports.records.claim(scope, record);
  // The record may be this run's own: the SDK repeated a write whose reply was lost.
  if (found !== undefined && found.dispatchId !== record.dispatchId) {
    const earlier = await earlierAnswer(scope, found, record, ports);
    if (earlier !== undefined) return earlier;
  }
  const accepted = await runClaimed(scope, record.dispatchId, ports, accept);
  await completed(scope, record, accepted, ports);
  return accepted;
}

/** Returns the answer of the earlier run. Returns undefined when it left none and this run has taken over. */
async function earlierAnswer(
  scope: IdempotencyScope,
  found: IdempotencyRecord,
  record: IdempotencyRecord,
  ports: IdempotencyPorts,
): Promise<Accepted | undefined> {
  if (found.bodyHash !== record.bodyHash) {
    throw new Refusal('idempotency_key_reused', 'the Idempotency-Key was used with another request body or time');
  }
  const { dispatchId, warning } = found;
  if (found.state === 'done') return { dispatchId, warning };
  if (record.startedAtMs - found.startedAtMs < runOverMs) throw stillRunning();
  // The start is renewed before the withdrawal: from now on the dead run can record no answer.
  const renewed = { ...found, startedAtMs: record.startedAtMs };
  if (!(await ports.records.takeOver(scope, found, renewed))) throw stillRunning();
  if ((await withdraw(dispatchId, ports)) === 'begun') {
    await completed(scope, renewed, { dispatchId }, ports);
    return { dispatchId };
  }
  await releaseReservation({ clientId: scope.clientId, dispatchId }, ports);
  if (!(await ports.records.takeOver(scope, renewed, record))) throw stillRunning();
  return undefined;
}

async function runClaimed(
  scope: IdempotencyScope,
  dispatchId: string,
  ports: IdempotencyPorts,
  accept: (dispatchId: string) => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await accept(dispatchId);
  } catch (error) {
    const undecided = error instanceof Refusal && error.code === 'dispatch_undecided';
    if (!undecided) await tolerated(dispatchId, ports, (signal) => ports.records.remove(scope, dispatchId, signal));
    throw error;
  }
}

async function completed(
  scope: IdempotencyScope,
  run: IdempotencyRecord,
  accepted: Accepted,
  ports: IdempotencyPorts,
): Promise<void> {
  await tolerated(accepted.dispatchId, ports, (signal) => ports.records.complete(scope, run, accepted, signal));
}

/** A failed record does not change the answer: the next request with the key catches up. */
async function tolerated(
  dispatchId: string,
  { remainingMs }: IdempotencyPorts,
  write: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await inTime(remainingMs, write);
  } catch (error) {
    log('idempotency.write_failed', { dispatchId, error: errorName(error) });
  }
}

export function stillRunning(): Refusal {
  return new Refusal('request_in_progress', 'an earlier request, on which the answer depends, is still running', {
    headers: { 'retry-after': '5' },
  });
}
