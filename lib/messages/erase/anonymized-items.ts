import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { recipientsOfPage } from '../accept/parameter-pages.ts';
import { packed } from '../dispatch/packed-json.ts';
import { anonymized, placeInSlice, type SliceKey, sliceOf } from '../dispatch/slice.ts';
import { sliceItemOf, sliceOfItem } from '../dispatch/slice-items.ts';
import { addressesOf, packedAddresses } from '../dispatch/whole-dispatch.ts';
import { anonymizedReceipt, packedReceipts, receiptsOf } from '../receipts/receipt-items.ts';
import { marketOfAddress } from '../request/recipient-address.ts';
import { type PersonIds, spells } from './person.ts';

/*
 * These rules change the attributes of a dispatch's items that name some recipients; undefined means no change. Other
 * data stays byte for byte, unless packed together.
 */

export type Change = Readonly<Record<string, unknown>>;

type Indexes = ReadonlySet<number>;

const AddressesSchema = v.object({ firstIndex: v.number(), recipients: v.instance(Uint8Array) });

/** Erased recipients leave their markets, so that erasing changes no sum (D60). */
export function addressesWithout(item: Item, indexes: Indexes): Change | undefined {
  const { firstIndex, recipients } = v.parse(AddressesSchema, item);
  const left = addressesLeft(recipients, firstIndex, indexes);
  return left === undefined ? undefined : { recipients: left };
}

const StraightSchema = v.object({ to: v.optional(v.instance(Uint8Array)) });

export function straightWithout(item: Item, indexes: Indexes): Change | undefined {
  const { to } = v.parse(StraightSchema, item);
  const left = to === undefined ? undefined : addressesLeft(to, 0, indexes);
  return left === undefined ? undefined : { to: left };
}

function addressesLeft(bytes: Uint8Array, firstIndex: number, indexes: Indexes): Uint8Array | undefined {
  const addresses = addressesOf(bytes);
  const isTheirs = (at: number) => indexes.has(firstIndex + at);
  if (!addresses.some((to, at) => typeof to === 'string' && isTheirs(at))) return undefined;
  return packedAddresses(
    addresses.map((to, at) => (typeof to === 'string' && isTheirs(at) ? { market: marketOfAddress(to) } : to)),
  );
}

const PageSchema = v.object({ sk: v.string(), recipients: v.instance(Uint8Array) });

export function parametersWithout(item: Item, indexes: Indexes): Change | undefined {
  const { sk, recipients: page } = v.parse(PageSchema, item);
  const recipients = recipientsOfPage(page);
  const isTheirs = (at: number) => indexes.has(Number(sk) + at);
  if (!recipients.some((recipient, at) => isTheirs(at) && Object.keys(recipient).length > 0)) return undefined;
  return { recipients: packed(recipients.map((recipient, at) => (isTheirs(at) ? {} : recipient))) };
}

/** Keeps outcomes; removes the platform's ids and texts. */
export function sliceWithout(key: SliceKey, item: Item, indexes: Indexes): Change | undefined {
  const places = [...indexes].filter((index) => sliceOf({ dispatchId: key.dispatchId, index }).slice === key.slice);
  const slice = anonymized(sliceOfItem(key, item), new Set(places.map(placeInSlice)));
  if (slice === undefined) return undefined;
  const { version, outcomes } = sliceItemOf(slice);
  return { version, outcomes };
}

/** Keeps the proof of receipts; removes the platform's ids, texts and names of the person. */
export function receiptsWithout(item: Item, indexes: Indexes): Change | undefined {
  const receipts = receiptsOf(item);
  const left = receipts.map((receipt) => (indexes.has(receipt.index) ? anonymizedReceipt(receipt) : receipt));
  const isSame = left.every((receipt, at) => Object.keys(receipt).length === Object.keys(receipts[at] ?? {}).length);
  return isSame ? undefined : { receipts: packedReceipts(left) };
}

const SharedSchema = v.object({
  head: v.optional(v.string()),
  plan: v.optional(v.string()),
  header: v.optional(v.string()),
});

const noHeader = 'null';

/**
 * Changes shared data of a dispatch or its acceptance. `attends` goes if it names the person, and with the header once
 * all recipients are erased.
 */
export function sharedWithout(
  item: Item,
  { ids, whole }: { readonly ids: PersonIds; readonly whole: boolean },
): Change | undefined {
  const { head, plan, header } = v.parse(SharedSchema, item);
  const heads = textWithout(head, 'attends', (attends) => whole || spells(ids, attends));
  const plans = textWithout(plan, 'header', () => whole);
  const headers = whole && header !== undefined && header !== noHeader ? noHeader : undefined;
  const changes = omitUndefined({ head: heads, plan: plans, header: headers });
  return Object.keys(changes).length === 0 ? undefined : changes;
}

function textWithout(text: string | undefined, field: string, goes: (value: string) => boolean): string | undefined {
  if (text === undefined) return undefined;
  const { [field]: value, ...rest } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  return value === undefined || !goes(JSON.stringify(value)) ? undefined : JSON.stringify(rest);
}
