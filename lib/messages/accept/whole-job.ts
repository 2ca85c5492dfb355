import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { present } from '../../keys/present.ts';
import { acceptedKey, dispatchesPartition, jobExpiresAtSeconds, jobSortKey, recipientsKey } from '../items.ts';
import {
  type HeaderInput,
  HeaderInputSchema,
  type JobHead,
  JobHeadSchema,
  type Recipient,
  type Repeat,
  RepeatSchema,
} from '../job.ts';
import { type Lot, LotSchema } from '../lots.ts';
import { type CompositionPlan, CompositionPlanSchema } from '../request/compose.ts';
import { packed, unpacked } from './packed-json.ts';
import { pairWaitsMs } from './pair-waits.ts';

/** A job as acceptance knows it. */
export interface WholeJob {
  readonly head: JobHead;
  readonly plan: CompositionPlan;
  readonly recipients: readonly Recipient[];
  /** Where some were dropped: the report counts by the places in the request (D40). */
  readonly repeats?: readonly Repeat[];
  /** Its number is one from which several clients may send: whom it writes to is noted (D55). */
  readonly shared?: true;
  /** When they may leave, for a send with a time of its own (D56). Its recipients are in the order of their lots. */
  readonly lots?: readonly Lot[];
  /** The place in the request of each recipient, by its index, where that is another order. */
  readonly positions?: readonly number[];
  /** Of a send with a time of its own: what its template may have to be judged with once more. */
  readonly header?: HeaderInput;
}

/** All of a job but who its recipients are. */
export interface AcceptedJobRecord extends Pick<WholeJob, 'head' | 'plan'> {
  readonly repeats: readonly Repeat[];
  readonly lots?: readonly Lot[];
  readonly positions?: readonly number[];
  readonly header?: HeaderInput;
  /** How long a recipient waits after its wave because earlier ones are the same person, by index (pair-waits.ts). */
  readonly waitsMs: ReadonlyMap<number, number>;
}

/** The longest address of a recipient has 135 characters: even one that cannot be packed leaves an item below 350 KB. */
export const addressesPerItem = 2_500;

/** Text that unpacks to more than this is none of ours. */
const maxUnpackedBytes = 1_048_576;

/** What the report of a job opens with (D40), and what its messages are composed from. Once it is there, `addressItems` are. */
export function acceptedItem({ head, plan, recipients, repeats = [], lots, positions, header }: WholeJob): Item {
  const waitsMs = [...pairWaitsMs(recipients)];
  return {
    ...acceptedKey(head.jobId),
    // As text: `attends` is unvalidated (D28), and a map takes no 33rd level, no empty name and no large number.
    head: JSON.stringify(head),
    plan: JSON.stringify(plan),
    ...(repeats.length === 0 ? {} : { repeats: packed(repeats) }),
    ...(waitsMs.length === 0 ? {} : { waitsMs: packed(waitsMs) }),
    ...present({
      lots: lots && packed(lots),
      positions: positions && packed(positions),
      header: header && JSON.stringify(header),
    }),
    expiresAtSeconds: jobExpiresAtSeconds(head),
  };
}

/** Who the recipients of a job are: kept as long as its report, and longer than their parameters. */
export function addressItems({ head, recipients }: WholeJob): Item[] {
  return Array.from({ length: Math.ceil(recipients.length / addressesPerItem) }, (_, at) => {
    const firstIndex = at * addressesPerItem;
    const some = recipients.slice(firstIndex, firstIndex + addressesPerItem);
    return {
      ...recipientsKey(head.jobId, firstIndex),
      firstIndex,
      recipients: packedAddresses(some.map(({ to }) => to)),
      expiresAtSeconds: jobExpiresAtSeconds(head),
    };
  });
}

/** How the client, and an operator, find the job in the list of dispatches; `total` counts repeated recipients too. */
export function pointerOfClient(head: JobHead, total: number): Item {
  const { jobId, templateName, templateLanguage, campaignId, retryOf, acceptedAtMs } = head;
  return {
    pk: dispatchesPartition(head.clientId, head.did),
    sk: jobSortKey(acceptedAtMs, jobId),
    ...{ jobId, templateName, templateLanguage, acceptedAtMs, total },
    ...present({ campaignId, retryOf }),
    expiresAtSeconds: jobExpiresAtSeconds(head),
  };
}

/** What the list of dispatches shows of a job, without another read. */
export const PointerSchema = v.object({
  sk: v.string(),
  jobId: v.string(),
  templateName: v.string(),
  templateLanguage: v.string(),
  campaignId: v.optional(v.number()),
  retryOf: v.exactOptional(v.string()),
  acceptedAtMs: v.number(),
  total: v.number(),
});
export type DispatchPointer = v.InferOutput<typeof PointerSchema>;

const AcceptedItemSchema = v.object({
  head: v.pipe(v.string(), v.parseJson(), JobHeadSchema),
  plan: v.pipe(v.string(), v.parseJson(), CompositionPlanSchema),
  repeats: v.optional(v.instance(Uint8Array)),
  waitsMs: v.optional(v.instance(Uint8Array)),
  lots: v.optional(v.instance(Uint8Array)),
  positions: v.optional(v.instance(Uint8Array)),
  header: v.optional(v.pipe(v.string(), v.parseJson(), HeaderInputSchema)),
});

const WaitsSchema = v.array(v.tuple([v.number(), v.number()]));

/** Reads `acceptedItem`. */
export function jobOfAcceptedItem(item: unknown): AcceptedJobRecord {
  const { head, plan, repeats, waitsMs, lots, positions, header } = v.parse(AcceptedItemSchema, item);
  return {
    head,
    plan,
    repeats: v.parse(v.array(RepeatSchema), listIn(repeats)),
    waitsMs: new Map(v.parse(WaitsSchema, listIn(waitsMs))),
    ...present({
      lots: lots && v.parse(v.array(LotSchema), listIn(lots)),
      positions: positions && v.parse(v.array(v.number()), listIn(positions)),
      header,
    }),
  };
}

const AddressesSchema = v.object({ firstIndex: v.number(), recipients: v.instance(Uint8Array) });

/** Reads one of `addressItems`: the address of each, by its index in the job. Those that were erased are left out (D60). */
export function addressesOfItem(item: unknown): (readonly [index: number, to: string])[] {
  const { firstIndex, recipients } = v.parse(AddressesSchema, item);
  return addressesFrom(recipients, firstIndex);
}

/** The same of packed addresses, of which the first is of that index. */
export function addressesFrom(bytes: Uint8Array, firstIndex = 0): (readonly [index: number, to: string])[] {
  return addressesOf(bytes).flatMap((to, offset) => (to === undefined ? [] : [[firstIndex + offset, to] as const]));
}

function listIn(bytes: Uint8Array | undefined): unknown {
  return bytes === undefined ? [] : unpacked(bytes, maxUnpackedBytes);
}

/** Addresses as an item holds them: that of a straight job too, in `to`. In the place of one that was erased stands null (D60). */
export function packedAddresses(addresses: readonly (string | undefined)[]): Uint8Array {
  return packed(addresses.map((to) => to ?? null));
}

/** The inverse of `packedAddresses`. */
export function addressesOf(bytes: Uint8Array): (string | undefined)[] {
  const stored = v.parse(v.array(v.nullable(v.string())), unpacked(bytes, maxUnpackedBytes));
  return stored.map((to) => to ?? undefined);
}
