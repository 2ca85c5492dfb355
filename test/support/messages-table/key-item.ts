import {
  type IdempotencyRecord,
  type IdempotencyRecords,
  rememberedMs,
} from '../../../lib/messages/accept/idempotency.ts';
import type { WritesOf } from './written.ts';

/** An Idempotency-Key's item is written as in idempotency-store.ts (idempotency.adapter.test.ts). */
export const keyWrites: WritesOf<IdempotencyRecord, IdempotencyRecords> = {
  find: (known) => ({ item: known, value: known }),

  claim: (known, { keptUntilMs }, record) => {
    const isRemembered = known !== undefined && record.startedAtMs < (keptUntilMs ?? known.startedAtMs + rememberedMs);
    return isRemembered ? { item: known, value: known } : { item: record, value: undefined };
  },

  takeOver: (known, _, stale, record) => {
    const may = isRun(known, stale) && known.state === 'running';
    return may ? { item: record, value: true } : { item: known, value: false };
  },

  complete: (known, _, run, { warning }) => {
    const item = isRun(known, run) ? { ...known, state: 'done' as const, warning: warning ?? known?.warning } : known;
    return { item, value: undefined };
  },

  remove: (known, _, dispatchId) => {
    const item = known?.dispatchId === dispatchId && known.state === 'running' ? undefined : known;
    return { item, value: undefined };
  },
};

function isRun(
  known: IdempotencyRecord | undefined,
  { dispatchId, startedAtMs }: IdempotencyRecord,
): known is IdempotencyRecord {
  return known?.dispatchId === dispatchId && known.startedAtMs === startedAtMs;
}
