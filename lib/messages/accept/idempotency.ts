import { createHash } from 'node:crypto';
import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { log } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { AskedTime } from '../job.ts';
import { inTimeLeft } from './answer-time.ts';
import { type WithdrawPorts, withdrawJob } from './withdraw-job.ts';

/** Longer than the 24 hours that are promised (D9). */
export const rememberedMs = 48 * 3_600_000;

/** The API function is ended after 29 s: a run that started longer ago than this is over, however it ended. */
export const runOverMs = 35_000;

/** What a request with this key did, or is doing. */
export interface IdempotencyRecord {
  readonly bodyHash: string;
  readonly jobId: string;
  readonly startedAtMs: number;
  readonly state: 'running' | 'done';
  readonly warning?: string;
}

export interface IdempotencyScope {
  readonly clientId: number;
  readonly did: string;
  readonly key: string;
}

export interface IdempotencyRecords {
  /** Writes the record when none is remembered for the scope; otherwise returns the one that is in the way. */
  claim(scope: IdempotencyScope, record: IdempotencyRecord): Promise<IdempotencyRecord | undefined>;
  /** Puts `record` in the place of exactly `stale`; false when that has changed meanwhile. */
  takeOver(scope: IdempotencyScope, stale: IdempotencyRecord, record: IdempotencyRecord): Promise<boolean>;
  /** Keeps the answer of the run that left exactly `run`; does nothing when another one took over. */
  complete(scope: IdempotencyScope, run: IdempotencyRecord, accepted: Accepted, signal: AbortSignal): Promise<void>;
  /** Forgets the run that has this job, as if it had never been. */
  remove(scope: IdempotencyScope, jobId: string, signal: AbortSignal): Promise<void>;
}

/** A request that was accepted: its job and what the client should know. */
export interface Accepted {
  readonly jobId: string;
  readonly warning?: string;
}

export interface IdempotencyPorts extends WithdrawPorts {
  readonly records: IdempotencyRecords;
  readonly nowMs: () => number;
  readonly newJobId: () => string;
  /** Told of a job that was taken back because the run that began then had left it. Does not throw. */
  readonly takenBack?: ((jobId: string) => Promise<void>) | undefined;
}

/** The same for the same JSON text, whatever the white space around its tokens, with the same time of its own, to the letter (D56). */
export function bodyHashOf(body: unknown, time?: AskedTime): string {
  const asked = time === undefined ? '' : `\n${JSON.stringify(time)}`;
  return createHash('sha256')
    .update(`${JSON.stringify(body)}${asked}`)
    .digest('base64url');
}

/**
 * Runs `accept` at most once for a key (D9, R21). The same key and body again gives the first answer and queues
 * nothing; 409 while the first runs, 422 for another body or time (D56). A refused run is not remembered. Of one that died the job is
 * withdrawn, or found to be begun, before anything is queued again; 502 `dispatch_undecided` when neither can be found out.
 */
export async function acceptOnce(
  scope: IdempotencyScope,
  bodyHash: string,
  ports: IdempotencyPorts,
  accept: (jobId: string) => Promise<Accepted>,
): Promise<Accepted> {
  const record: IdempotencyRecord = {
    bodyHash,
    jobId: ports.newJobId(),
    startedAtMs: ports.nowMs(),
    state: 'running',
  };
  const found = await ports.records.claim(scope, record);
  // The record in the way may be our own: the claim was written, its reply lost, and the client wrote it once more.
  if (found !== undefined && found.jobId !== record.jobId) {
    const earlier = await earlierAnswer(scope, found, record, ports);
    if (earlier !== undefined) return earlier;
  }
  const accepted = await runClaimed(scope, record.jobId, ports, accept);
  await completed(scope, record, accepted, ports);
  return accepted;
}

/** The answer of the run that had the key before; undefined when it left none and this run has taken its place. */
async function earlierAnswer(
  scope: IdempotencyScope,
  found: IdempotencyRecord,
  record: IdempotencyRecord,
  ports: IdempotencyPorts,
): Promise<Accepted | undefined> {
  if (found.bodyHash !== record.bodyHash) {
    throw new Refusal('idempotency_key_reused', 'the Idempotency-Key was used with another request body or time');
  }
  const { jobId, warning } = found;
  if (found.state === 'done') return { jobId, ...present({ warning }) };
  if (record.startedAtMs - found.startedAtMs < runOverMs) throw stillRunning();
  // Before the job is taken back: from now on the run that died records no answer, however late its last write lands.
  const renewed = { ...found, startedAtMs: record.startedAtMs };
  if (!(await ports.records.takeOver(scope, found, renewed))) throw stillRunning();
  if ((await withdrawJob(jobId, ports)) === 'begun') {
    await completed(scope, renewed, { jobId }, ports);
    return { jobId };
  }
  await ports.takenBack?.(jobId);
  if (!(await ports.records.takeOver(scope, renewed, record))) throw stillRunning();
  return undefined;
}

async function runClaimed(
  scope: IdempotencyScope,
  jobId: string,
  ports: IdempotencyPorts,
  accept: (jobId: string) => Promise<Accepted>,
): Promise<Accepted> {
  try {
    return await accept(jobId);
  } catch (error) {
    const undecided = error instanceof Refusal && error.code === 'dispatch_undecided';
    if (!undecided) await tolerated(jobId, ports, (signal) => ports.records.remove(scope, jobId, signal));
    throw error;
  }
}

async function completed(
  scope: IdempotencyScope,
  run: IdempotencyRecord,
  accepted: Accepted,
  ports: IdempotencyPorts,
): Promise<void> {
  await tolerated(accepted.jobId, ports, (signal) => ports.records.complete(scope, run, accepted, signal));
}

/**
 * What is decided is answered: that the record is behind the facts is no reason to answer anything else, or too late, for
 * the next request with the key catches up.
 */
async function tolerated(
  jobId: string,
  { remainingMs }: IdempotencyPorts,
  write: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  try {
    await inTimeLeft(remainingMs, write);
  } catch (error) {
    log('idempotency.write_failed', { jobId, error: nameOf(error) });
  }
}

function stillRunning(): Refusal {
  return new Refusal('request_in_progress', 'a request with the same Idempotency-Key is still running', {
    headers: { 'retry-after': '5' },
  });
}
