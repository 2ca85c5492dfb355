import { Refusal } from '../../http/refusal.ts';
import {
  type Accepted,
  acceptOnce,
  type IdempotencyPorts,
  type IdempotencyRecord,
  runOverMs,
  stillRunning,
} from '../accept/idempotency.ts';
import type { RetrySource } from './retry-source.ts';

// A retry is a send under a key of its source and of the number of retries before it (D57). The key's record says which
// recipients the retry has.

// A key is free, running, then done for good; a refused run frees it again. After 35 s another retry completes a run
// that has begun, else withdraws its dispatch and takes the key over.

// A retry claims a key once all retries before it have begun, and takes none of their recipients. Those never change,
// so no recipient is in two retries, whatever the clocks say.

// What is done has begun, and what the source names, which may outlive a retry's own dispatch (D56). A retry that has
// begun unnamed has sent nothing: its sender names it first.

export interface Retrying {
  readonly dispatchId: string;
  readonly clientId: number;
  readonly did: string;
  readonly source: Pick<RetrySource, 'dispatchId' | 'forgottenAtMs' | 'retriedBy'>;
  /** At least one index in the source is to be sent again. */
  readonly wanted: readonly number[];
}

/** Keys outlive their source: TTL deletes late, and no reader may find the source without them. */
const marginMs = 86_400_000;

/**
 * Accepts a retry of the wanted recipients that no other retry has. Refuses with 409 `request_in_progress` while
 * another retry of the source runs, 409 `nothing_to_retry` with the retries that have them all, and as `acceptOnce`.
 */
export async function acceptUnderNextKey(
  retrying: Retrying,
  ports: Omit<IdempotencyPorts, 'newDispatchId'>,
  accept: (indexes: ReadonlySet<number>) => Promise<Accepted>,
): Promise<Accepted> {
  const { dispatchId } = retrying;
  for (;;) {
    const { earlier } = await retriesBefore(retrying, ports);
    const retries = freeOf(retrying.wanted, earlier);
    const asked = { bodyHash: 'retry', retries };
    const once = { ...ports, newDispatchId: () => dispatchId };
    const accepted = await acceptOnce(keyOf(retrying, earlier.length), asked, once, () => accept(new Set(retries)));
    if (accepted.dispatchId === dispatchId) return accepted;
    // Another retry has the key, and has begun: the next key is for the rest.
  }
}

/** Returns the recipients that a retry would have now, for a rehearsal. Writes nothing. Refuses in the same cases. */
export async function freeNow(
  retrying: Retrying,
  ports: Pick<IdempotencyPorts, 'records' | 'nowMs'>,
): Promise<ReadonlySet<number>> {
  const { earlier, open } = await retriesBefore(retrying, ports);
  if (open !== undefined && ports.nowMs() - open.startedAtMs < runOverMs) throw stillRunning();
  return new Set(freeOf(retrying.wanted, earlier));
}

/** Reads the keys of the source strongly, up to the first whose retry is not known to have begun. */
async function retriesBefore(retrying: Retrying, { records }: Pick<IdempotencyPorts, 'records'>) {
  const earlier: IdempotencyRecord[] = [];
  for (;;) {
    const open = await records.find(keyOf(retrying, earlier.length));
    const hasBegun = open?.state === 'done' || retrying.source.retriedBy?.has(open?.dispatchId ?? '');
    if (open === undefined || !hasBegun) return { earlier, open };
    earlier.push(open);
  }
}

/** No client's key contains a space (D9). */
function keyOf({ clientId, did, source }: Retrying, number: number) {
  const key = `retry ${source.dispatchId} ${number}`;
  return { clientId, did, key, keptUntilMs: source.forgottenAtMs + marginMs };
}

/** Returns the wanted recipients that no retry has, at least one. */
function freeOf(wanted: readonly number[], earlier: readonly IdempotencyRecord[]): readonly number[] {
  const taken = new Map(earlier.flatMap(({ dispatchId, retries = [] }) => retries.map((index) => [index, dispatchId])));
  const free = wanted.filter((index) => !taken.has(index));
  if (free.length > 0) return free;
  throw new Refusal('nothing_to_retry', 'all recipients that could be retried are in another retry: see retried_by', {
    retriedBy: [...new Set(wanted.flatMap((index) => taken.get(index) ?? []))].sort(),
  });
}
