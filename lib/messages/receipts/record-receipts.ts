import type { Claim, DispatchKey } from '../dispatch/claim.ts';
import { dispatchIdOf } from '../job.ts';
import type { Receipt } from './receipt.ts';
import type { RecordPorts } from './record-ports.ts';
import { type QueuedReceipts, workedOff } from './run-receipts.ts';
import { settleClaims } from './settle-claims.ts';

/** As `runReceipts` (run-receipts.ts), of messages whose outcomes stand in claims and batch records. */
export async function recordReceipts(queued: readonly QueuedReceipts[], ports: RecordPorts): Promise<string[]> {
  return await workedOff(queued, {
    ...ports,
    settle: async (receipts) => timesOf(await settleClaims(keysOf(receipts), ports)),
    addressesOf: async (messages) => addressesIn(await ports.claims.findClaims(messages)),
  });
}

/** The messages of these receipts, each once. */
function keysOf(receipts: readonly Receipt[]): DispatchKey[] {
  return [...new Map(receipts.map(({ jobId, index }) => [dispatchIdOf({ jobId, index }), { jobId, index }])).values()];
}

function timesOf(claims: readonly Claim[]): ReadonlyMap<string, number> {
  return new Map(
    claims.flatMap(({ key, resolvedAtMs }) => (resolvedAtMs === undefined ? [] : [[dispatchIdOf(key), resolvedAtMs]])),
  );
}

function addressesIn(claims: ReadonlyMap<string, Claim>): ReadonlyMap<string, string> {
  return new Map([...claims].flatMap(([dispatchId, { to }]) => (to === undefined ? [] : [[dispatchId, to]])));
}
