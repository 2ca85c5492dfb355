import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as v from 'valibot';
import type { ItemKey } from '../../aws/item-key.ts';
import { type Recorded, type Slice, type SliceKey, sliceSize } from './slice.ts';

/*
 * Ten packed outcomes with platform ids are one write unit. They are kept for 30 days or longer (D56), so readers need
 * a new attribute to be optional.
 */

/** The largest dispatch has ten partitions, each far below its throughput limit. */
const slicesPerPartition = 100;

export const recipientsPerPartition = slicesPerPartition * sliceSize;

const slicePrefix = 'SLICE#';

export function slicePartition(dispatchId: string, partition: number): string {
  return `DISPATCH#${dispatchId}#${partition}`;
}

export function sliceKeyOf({ dispatchId, slice }: SliceKey): ItemKey {
  return {
    pk: slicePartition(dispatchId, Math.floor(slice / slicesPerPartition)),
    sk: `${slicePrefix}${String(slice).padStart(4, '0')}`,
  };
}

/** Returns the partitions that have slices from one on and below another. */
export function slicePartitionsBetween(from: number, until: number): number[] {
  const first = Math.floor(from / slicesPerPartition);
  const end = Math.ceil(until / slicesPerPartition);
  return from >= until ? [] : Array.from({ length: end - first }, (_, at) => first + at);
}

export function sliceOfSortKey(sk: unknown): number {
  return Number(String(sk).slice(slicePrefix.length));
}

const SliceItemSchema = v.object({
  version: v.number(),
  try: v.number(),
  owner: v.string(),
  atMs: v.number(),
  state: v.picklist(['claimed', 'ended']),
  keptUntilMs: v.optional(v.number()),
  calls: v.optional(v.number()),
  outcomes: v.instance(Uint8Array),
});

const optionalText = v.optional(v.nullable(v.string()));
const optionalTime = v.optional(v.nullable(v.number()));
/** Each place has null, or a letter for the state and its facts. Unknown facts are null, or missing at the end. */
const PackedSchema = v.array(
  v.nullable(
    v.union([
      v.looseTuple([v.literal('s'), optionalText, optionalText, optionalText, optionalTime]),
      v.looseTuple([v.picklist(['f', 'x', 'u']), v.string(), optionalText, optionalTime]),
      v.looseTuple([v.literal('a'), v.number(), v.optional(v.nullable(v.literal(1)))]),
    ]),
  ),
);

const stateOf = { f: 'failed', x: 'expired', u: 'unknown' } as const;
const letterOf = { failed: 'f', expired: 'x', unknown: 'u' } as const;

/** Ten outcomes take a few kilobytes: this service wrote no text that unpacks to more. */
const maxUnpackedBytes = 100_000;

export function sliceOfItem(key: SliceKey, item: unknown): Slice {
  const { outcomes, ...facts } = v.parse(SliceItemSchema, item);
  return { key, ...facts, outcomes: unpacked(outcomes) };
}

export function sliceItemOf({ key: _key, outcomes, ...facts }: Slice) {
  return { ...facts, outcomes: packed(outcomes) };
}

function packed(outcomes: Slice['outcomes']): Uint8Array {
  return deflateRawSync(JSON.stringify(outcomes.map((outcome) => (outcome === undefined ? null : tupleOf(outcome)))));
}

function tupleOf(outcome: Recorded): unknown[] {
  if (outcome.state === 'again') return withoutTail(['a', outcome.dueMs, outcome.refused && 1]);
  if (outcome.state === 'sent') {
    const { platformMessageId, held, code, resolvedAtMs } = outcome;
    return withoutTail(['s', platformMessageId, held, code, resolvedAtMs]);
  }
  const { state, code, reason, resolvedAtMs } = outcome;
  return withoutTail([letterOf[state], code, reason, resolvedAtMs]);
}

function withoutTail(tuple: readonly unknown[]): unknown[] {
  return tuple.slice(0, tuple.findLastIndex((part) => part !== undefined) + 1);
}

function unpacked(bytes: Uint8Array): (Recorded | undefined)[] {
  const text = inflateRawSync(bytes, { maxOutputLength: maxUnpackedBytes }).toString('utf8');
  return v.parse(PackedSchema, JSON.parse(text)).map((tuple) => (tuple === null ? undefined : outcomeOf(tuple)));
}

function outcomeOf(tuple: NonNullable<v.InferOutput<typeof PackedSchema>[number]>): Recorded {
  if (tuple[0] === 'a') return { state: 'again', dueMs: tuple[1], ...(tuple[2] === 1 ? { refused: true } : {}) };
  if (tuple[0] === 's') {
    const [, platformMessageId, held, code, resolvedAtMs] = tuple;
    return { state: 'sent', ...known({ platformMessageId, held, code, resolvedAtMs }) };
  }
  const [letter, code, reason, resolvedAtMs] = tuple;
  return { state: stateOf[letter], code, ...known({ reason, resolvedAtMs }) };
}

function known<Facts extends Readonly<Record<string, string | number | null | undefined>>>(
  facts: Facts,
): { [name in keyof Facts]?: NonNullable<Facts[name]> } {
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== null && fact !== undefined)) as never;
}
