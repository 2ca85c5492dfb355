import * as v from 'valibot';
import type { Item } from '../../aws/dynamodb-batch.ts';
import { listedPartition } from '../../opt-outs/opt-out-items.ts';
import { recipientsOfPage } from '../accept/parameter-pages.ts';
import { dispatchOfPartition, dispatchOfReceipts, recipientsPrefix, userIdOfReplaced } from '../dispatch/items.ts';
import { unpackedText } from '../dispatch/packed-json.ts';
import { addressesFrom, addressesOfItem } from '../dispatch/whole-dispatch.ts';
import { recipientHashOf } from '../pace/known-pace.ts';
import { receiptsOf } from '../receipts/receipt-items.ts';
import { isOf, mayName, type PersonIds, spells, without } from './person.ts';

export type PersonData =
  /**
   * Recipients of a dispatch are the person, or an erasure of the dispatch is unfinished: the whole dispatch is
   * examined.
   */
  | { readonly kind: 'dispatch'; readonly dispatchId: string; readonly indexes: readonly number[] }
  /** `linked` are other ids of the person. */
  | { readonly kind: 'gone'; readonly place: 'optOutRows' | 'replacedIds'; readonly linked: readonly string[] }
  | { readonly kind: 'changed'; readonly place: 'idempotencyKeys'; readonly change: Readonly<Record<string, unknown>> }
  | { readonly kind: 'pair'; readonly place: 'pairs'; readonly hashes: readonly string[] }
  | { readonly kind: 'unknown'; readonly prefix: string };

/** A scan reads only these. The rest of a found dispatch is read later. */
export const attributesRead = [
  ...['pk', 'sk', 'to', 'erasing', 'erased', 'recipients', 'receipts', 'warning', 'recipient', 'by', 'pairs'],
] as const;

/**
 * These kinds name no person: they hold ids, codes, times or keyed digests. ERASING items go when their erasure ends.
 */
const nameless = [
  'ERASING',
  'DISPATCHES',
  'QUESTION',
  'QUESTIONS',
  'PLATFORM',
  'WABA',
  'PERSON',
  'SENT',
  'BACKLOG',
  'LATER',
  'SENDER',
  'PLACES',
  'SPEND',
  'BUDGET',
] as const;

/** These items reveal no more of recipients than the country. */
const namelessOfDispatch: ReadonlySet<string> = new Set(['ACCEPTED', 'DOUBT', 'SPENT', 'COUNT', 'RESERVED']);

/** The scan filters out these numerous nameless kinds; slices are read with their dispatch. */
export const skippedKinds = { partitions: ['DISPATCHES#'], sortKeys: ['SLICE#'] } as const;

const mostUnpackedBytes = 32 * 1_048_576;

const ItemSchema = v.object({ pk: v.string(), sk: v.string() });

interface Looked {
  readonly pk: string;
  readonly sk: string;
  readonly item: Item;
  readonly ids: PersonIds;
}

/**
 * Returns the finding about the person, if any. With a client it concerns only that client's data, and dispatches of
 * all clients.
 */
export function personDataIn(item: Item, ids: PersonIds, clientId?: number): PersonData | undefined {
  const { pk, sk } = v.parse(ItemSchema, item);
  const prefix = pk.split('#', 1)[0] ?? '';
  if ((nameless as readonly string[]).includes(prefix)) return undefined;
  const look = lookOf[prefix];
  return look === undefined ? { kind: 'unknown', prefix } : look({ pk, sk, item, ids }, clientId);
}

const lookOf: Readonly<Record<string, (looked: Looked, clientId?: number) => PersonData | undefined>> = {
  DISPATCH: ({ pk, sk, item, ids }) => {
    if (namelessOfDispatch.has(sk) || sk.startsWith('SLICE#')) return undefined;
    if (sk === 'DISPATCH')
      return inDispatch(dispatchOfPartition(pk), [...straightIn(item, ids), ...unfinishedIn(item)]);
    if (!sk.startsWith(recipientsPrefix)) return { kind: 'unknown', prefix: `DISPATCH ${sk.split('#', 1)[0]}` };
    return mayBeIn(item['recipients'], ids)
      ? inDispatch(dispatchOfPartition(pk), of(addressesOfItem(itemOf(item, sk)).addresses, ids))
      : undefined;
  },
  PARAMS: ({ pk, sk, item, ids }) => {
    const page = item['recipients'];
    if (!mayBeIn(page, ids)) return undefined;
    const dispatchId = pk.split('#')[1] ?? '';
    return inDispatch(
      dispatchId,
      of(
        [...recipientsOfPage(page).entries()].map(([at, { to }]) => [Number(sk) + at, to]),
        ids,
      ),
    );
  },
  RECEIPTS: ({ pk, item, ids }) => {
    if (!mayBeIn(item['receipts'], ids)) return undefined;
    const ofPerson = receiptsOf(item).filter(({ userId, waId }) => isOf(ids, userId) || isOf(ids, waId));
    return inDispatch(
      dispatchOfReceipts(pk),
      ofPerson.map(({ index }) => index),
    );
  },
  IDEMPOTENCY: ({ pk, item, ids }, clientId) => {
    const { warning } = item;
    if (typeof warning !== 'string' || !spells(ids, warning) || isOthers(pk, clientId)) return undefined;
    return { kind: 'changed', place: 'idempotencyKeys', change: { warning: without(ids, warning, '(erased)') } };
  },
  USERID: ({ pk, item, ids }, clientId) => {
    const both = [userIdOfReplaced(pk), String(item['by'])];
    // The update is about the person and belongs to no client.
    if (clientId !== undefined || !both.some((id) => isOf(ids, id))) return undefined;
    return { kind: 'gone', place: 'replacedIds', linked: both.filter((id) => !isOf(ids, id)) };
  },
  OPTOUTS: ({ pk, item, ids }, clientId) => {
    const { recipient } = item;
    if (typeof recipient !== 'string' || !isOf(ids, recipient)) return undefined;
    if (clientId !== undefined && pk !== listedPartition(clientId)) return undefined;
    return { kind: 'gone', place: 'optOutRows', linked: [] };
  },
  PACE: ({ item, ids }, clientId) => {
    const { pairs } = item;
    if (clientId !== undefined || typeof pairs !== 'object' || pairs === null) return undefined;
    const hashes = [...new Set([...ids].map(recipientHashOf))];
    const known = hashes.filter((hash) => Object.hasOwn(pairs, hash));
    return known.length === 0 ? undefined : { kind: 'pair', place: 'pairs', hashes: known };
  },
};

function isOthers(pk: string, clientId: number | undefined): boolean {
  return clientId !== undefined && pk.split('#')[1] !== String(clientId);
}

function inDispatch(dispatchId: string, indexes: readonly number[]): PersonData | undefined {
  return indexes.length === 0 ? undefined : { kind: 'dispatch', dispatchId, indexes: [...new Set(indexes)] };
}

function of(addresses: readonly (readonly [index: number, to: string | undefined])[], ids: PersonIds): number[] {
  return addresses.filter(([, to]) => isOf(ids, to)).map(([index]) => index);
}

function straightIn({ to }: Item, ids: PersonIds): number[] {
  return mayBeIn(to, ids) ? of(addressesFrom(to).addresses, ids) : [];
}

function unfinishedIn({ erasing, erased }: Item): number[] {
  return erasing === true && erased instanceof Set ? [...(erased as Set<number>)] : [];
}

/** Searched as text before parsing: of ten million recipients almost none is the person. */
function mayBeIn(bytes: unknown, ids: PersonIds): bytes is Uint8Array {
  return bytes instanceof Uint8Array && mayName(ids, unpackedText(bytes, mostUnpackedBytes));
}

/** The scan reads no `firstIndex`; the key has it. */
function itemOf(item: Item, sk: string): Item {
  return { ...item, firstIndex: Number(sk.slice(recipientsPrefix.length)) };
}
