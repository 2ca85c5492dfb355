import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { type CompositionPlan, CompositionPlanSchema } from './composition-plan.ts';
import {
  type DispatchHead,
  DispatchHeadSchema,
  type HeaderInput,
  HeaderInputSchema,
  type Recipient,
  type Repeat,
  RepeatSchema,
  WhenSchema,
} from './head.ts';
import {
  acceptedKey,
  dispatchExpiresAtSeconds,
  dispatchesPartition,
  dispatchSortKey,
  forgottenAtMs,
  recipientsKey,
} from './items.ts';
import { type Lot, LotSchema } from './lots.ts';
import { packed, unpacked } from './packed-json.ts';
import { pairRateDelaysMs } from './pair-rate-delays.ts';

export interface WholeDispatch {
  readonly head: DispatchHead;
  readonly plan: CompositionPlan;
  readonly recipients: readonly Recipient[];
  /** The report counts by places in the request, so it needs dropped repeats (D40). */
  readonly repeats?: readonly Repeat[];
  /** A scheduled send's lots say when recipients, sorted by lots, may leave (D56). */
  readonly lots?: readonly Lot[];
  /** Positions map indexes to places in the request, when the order differs. */
  readonly positions?: readonly number[];
  /** A changed template is judged with it. */
  readonly header?: HeaderInput;
}

/** The record of an acceptance, as report, sender and worker read it. */
export interface StoredDispatch extends Omit<WholeDispatch, 'recipients' | 'repeats'> {
  readonly repeats: readonly Repeat[];
  /** By index, recipients who are the same person wait longer (pair-rate-delays.ts). */
  readonly waitsMs: ReadonlyMap<number, number>;
}

/** An address has at most 135 characters: even if they do not pack, an item stays below 350 KB. */
export const addressesPerItem = 2_500;

/** This service wrote no text that unpacks to more. */
const maxUnpackedBytes = 1_048_576;

/** Returns what the report opens with (D40) and messages are composed from. It is written after `addressItems`. */
export function acceptedItem({ head, plan, recipients, repeats = [], lots, positions, header }: WholeDispatch): Item {
  const waitsMs = [...pairRateDelaysMs(recipients)];
  return {
    ...acceptedKey(head.dispatchId),
    // The head is text: `attends` is unvalidated (D28), and a DynamoDB map allows no 33rd level, empty name or large
    // number.
    head: JSON.stringify(head),
    plan: JSON.stringify(plan),
    ...(repeats.length === 0 ? {} : { repeats: packed(repeats) }),
    ...(waitsMs.length === 0 ? {} : { waitsMs: packed(waitsMs) }),
    lots: lots && packed(lots),
    positions: positions && packed(positions),
    header: header && JSON.stringify(header),
    expiresAtSeconds: dispatchExpiresAtSeconds(head),
  };
}

/** Returns the recipients of a dispatch, kept as long as its report and longer than their parameters. */
export function addressItems({ head, recipients }: WholeDispatch): Item[] {
  return Array.from({ length: Math.ceil(recipients.length / addressesPerItem) }, (_, at) => {
    const firstIndex = at * addressesPerItem;
    const some = recipients.slice(firstIndex, firstIndex + addressesPerItem);
    return {
      ...recipientsKey(head.dispatchId, firstIndex),
      firstIndex,
      recipients: packedAddresses(some.map(({ to }) => to)),
      expiresAtSeconds: dispatchExpiresAtSeconds(head),
    };
  });
}

/** Returns the dispatch in the list of dispatches. `total` includes repeated recipients. */
export function pointerOfClient(head: DispatchHead, total: number): Item {
  const { dispatchId, did, templateName, templateLanguage, campaignId, acceptedAtMs, when, retryOf } = head;
  return {
    pk: dispatchesPartition(head.clientId),
    sk: dispatchSortKey(acceptedAtMs, dispatchId),
    ...{ dispatchId, did, templateName, templateLanguage, acceptedAtMs, total },
    campaignId,
    when,
    retryOf,
    // TTL may remove the item days later.
    forgottenAtMs: forgottenAtMs(head),
    expiresAtSeconds: dispatchExpiresAtSeconds(head),
  };
}

/** The list of dispatches shows this without a further read. */
export const PointerSchema = v.object({
  sk: v.string(),
  dispatchId: v.string(),
  did: v.string(),
  templateName: v.string(),
  templateLanguage: v.string(),
  campaignId: v.optional(v.number()),
  acceptedAtMs: v.number(),
  total: v.number(),
  forgottenAtMs: v.number(),
  when: v.optional(WhenSchema),
  retryOf: v.optional(v.string()),
});
export type DispatchPointer = v.InferOutput<typeof PointerSchema>;

const AcceptedItemSchema = v.object({
  head: v.pipe(v.string(), v.parseJson(), DispatchHeadSchema),
  plan: v.pipe(v.string(), v.parseJson(), CompositionPlanSchema),
  repeats: v.optional(v.instance(Uint8Array)),
  waitsMs: v.optional(v.instance(Uint8Array)),
  lots: v.optional(v.instance(Uint8Array)),
  positions: v.optional(v.instance(Uint8Array)),
  /** The header is null once all recipients were erased (D60). */
  header: v.optional(v.pipe(v.string(), v.parseJson(), v.nullable(HeaderInputSchema))),
});

const WaitsSchema = v.array(v.tuple([v.number(), v.number()]));

export function dispatchOfAcceptedItem(item: unknown): StoredDispatch {
  const { head, plan, repeats, waitsMs, lots, positions, header } = v.parse(AcceptedItemSchema, item);
  return {
    head,
    plan,
    repeats: v.parse(v.array(RepeatSchema), listIn(repeats)),
    waitsMs: new Map(v.parse(WaitsSchema, listIn(waitsMs))),
    lots: lots && v.parse(v.array(LotSchema), listIn(lots)),
    positions: positions && v.parse(v.array(v.number()), listIn(positions)),
    header: header ?? undefined,
  };
}

const AddressesSchema = v.object({ firstIndex: v.number(), recipients: v.instance(Uint8Array) });

/** A dispatch's recipients as its items have them, by index in the dispatch. */
export interface StoredAddresses {
  readonly addresses: readonly (readonly [index: number, to: string])[];
  /** Erased recipients have left the market of their price (D60). */
  readonly erased: readonly (readonly [index: number, market: string])[];
}

/** Reads one of `addressItems`. */
export function addressesOfItem(item: unknown): StoredAddresses {
  const { firstIndex, recipients } = v.parse(AddressesSchema, item);
  return addressesFrom(recipients, firstIndex);
}

export function addressesFrom(bytes: Uint8Array, firstIndex = 0): StoredAddresses {
  const stored = addressesOf(bytes).map((address, offset) => [firstIndex + offset, address] as const);
  return {
    addresses: stored.flatMap(([index, to]) => (typeof to === 'string' ? [[index, to] as const] : [])),
    erased: stored.flatMap(([index, to]) => (typeof to === 'string' ? [] : [[index, to.market] as const])),
  };
}

function listIn(bytes: Uint8Array | undefined): unknown {
  return bytes === undefined ? [] : unpacked(bytes, maxUnpackedBytes);
}

/** An erased recipient leaves its market, so that what was delivered keeps its price (D60). */
const StoredAddressSchema = v.union([v.string(), v.object({ market: v.string() })]);

/** Returns addresses as an item holds them, also `to` of a straight dispatch. */
export function packedAddresses(addresses: Readonly<ReturnType<typeof addressesOf>>): Uint8Array<ArrayBuffer> {
  return packed(addresses);
}

export function addressesOf(bytes: Uint8Array) {
  return v.parse(v.array(StoredAddressSchema), unpacked(bytes, maxUnpackedBytes));
}
