import { count } from '../../observe/metrics.ts';
import {
  type BatchRecord,
  type Claim,
  claimantOf,
  type DispatchKey,
  invocationOf,
  isIn,
  provenByReceipt,
} from '../dispatch/claim.ts';
import { dispatchIdOf } from '../job.ts';
import type { RecordPorts } from './record-ports.ts';

/** A claim changes a few times in its life: who meets more changes than this looks again at the next delivery. */
const maxRounds = 10;

/**
 * Makes sure that none of these messages, of which each has a receipt and whose job is in doubt (items.ts, `doubtKey`), is
 * sent again or stays `unknown` (D39). Returns the claims that were `unknown` before a receipt settled them, now or in a run
 * before: each of them is to be told. Throws when claims keep changing.
 */
export async function settleClaims(
  keys: readonly DispatchKey[],
  ports: Pick<RecordPorts, 'claims' | 'nowMs' | 'log'>,
): Promise<Claim[]> {
  const resolved: Claim[] = [];
  let open = keys;
  for (let round = 1; open.length > 0; round += 1) {
    if (round > maxRounds) throw new Error(`${open.length} claims keep changing`);
    const claims = await ports.claims.findClaims(open);
    const batches = await findBatchRecords([...claims.values()], ports);
    const ends = await Promise.all(
      open.map(async (key) => ({ key, end: await settleClaim(key, claims.get(dispatchIdOf(key)), batches, ports) })),
    );
    resolved.push(...ends.flatMap(({ end }) => (typeof end === 'object' ? [end] : [])));
    open = ends.filter(({ end }) => end === 'changed').map(({ key }) => key);
  }
  return resolved;
}

async function findBatchRecords(
  claims: readonly Claim[],
  { claims: store }: Pick<RecordPorts, 'claims'>,
): Promise<ReadonlyMap<string, BatchRecord>> {
  const invocations = claims.filter(({ state }) => state === 'claimed').map(({ at }) => invocationOf(at));
  return invocations.length === 0 ? new Map() : await store.findBatchRecords([...new Set(invocations)]);
}

/** Undefined: nothing is to be told of it. */
async function settleClaim(
  key: DispatchKey,
  claim: Claim | undefined,
  batches: ReadonlyMap<string, BatchRecord>,
  ports: Pick<RecordPorts, 'claims' | 'nowMs' | 'log'>,
): Promise<'changed' | Claim | undefined> {
  const nowMs = ports.nowMs();
  if (claim === undefined) {
    const taken = { ...provenByReceipt, key, at: claimantOf('receipts', 0), claimedAtMs: nowMs };
    return (await ports.claims.take(taken)) === undefined ? undefined : 'changed';
  }
  if (claim.code === provenByReceipt.code && claim.resolvedAtMs !== undefined) return claim;
  if (claim.state === 'claimed' && !isIn(batches.get(invocationOf(claim.at)), key)) {
    return (await ports.claims.settleSeen(claim, provenByReceipt)) ? undefined : 'changed';
  }
  if (claim.state !== 'unknown') return undefined;
  const resolved = { ...provenByReceipt, resolvedAtMs: nowMs };
  if (!(await ports.claims.settleSeen(claim, resolved))) return 'changed';
  count('MessagesResolved');
  ports.log('receipts.resolved', { dispatchId: dispatchIdOf(key) });
  return { ...claim, ...resolved };
}
