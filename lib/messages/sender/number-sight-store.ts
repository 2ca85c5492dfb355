import { batchGet } from '../../aws/dynamodb-batch.ts';
import { clocksApartMs } from '../../aws/leased-run.ts';
import type { Table } from '../../aws/table.ts';
import { breakerKey, holdsKey, paceKey, senderKey } from '../dispatch/items.ts';
import type { Breaker } from '../holds/breaker.ts';
import { breakerOf } from '../holds/breaker-store.ts';
import type { Holds } from '../holds/hold.ts';
import { holdsOf } from '../holds/hold-store.ts';
import { type KnownPace, unknownPace } from '../pace/known-pace.ts';
import { paceIn } from '../pace/known-pace-store.ts';
import { senderStateOf } from './sender-state-store.ts';

/** What a worker sees of a number before it takes places. */
export interface NumberSight {
  readonly pace: KnownPace;
  readonly breaker: Breaker;
  readonly holds: ReadonlyMap<string, Holds>;
  /** A sender has the lease of a part, or may have it by its clock. */
  readonly isSending: boolean;
}

export interface SightedNumber {
  readonly phoneNumberId: string;
  readonly wabaIds: readonly string[];
  /** The number needs so many senders. */
  readonly senders: number;
}

/** Rejects when the store cannot be reached. */
export type LookAtNumber = (number: SightedNumber) => Promise<NumberSight>;

/** Reads leases, pace, holds and breaker in one strongly consistent request. */
export function numberSightStore(table: Pick<Table, 'client' | 'name' | 'pause' | 'nowMs'>): LookAtNumber {
  return async ({ phoneNumberId, wabaIds, senders }) => {
    const leases = Array.from({ length: senders }, (_, part) => senderKey({ phoneNumberId, part }));
    const pace = paceKey(phoneNumberId);
    const keys = [pace, breakerKey, ...wabaIds.map(holdsKey), ...leases];
    const items = new Map((await batchGet(table, keys, { consistent: true })).map((item) => [item['pk'], item]));
    const found = items.get(pace.pk);
    const freshMs = table.nowMs() - clocksApartMs;
    return {
      pace: found === undefined ? unknownPace : paceIn(found),
      breaker: breakerOf(items.get(breakerKey.pk)),
      holds: new Map(wabaIds.map((wabaId) => [wabaId, holdsOf(items.get(holdsKey(wabaId).pk))])),
      isSending: leases.some(({ pk }) => (senderStateOf(items.get(pk)).lease?.untilMs ?? 0) > freshMs),
    };
  };
}
