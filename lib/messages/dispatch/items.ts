import { createHash } from 'node:crypto';
import type { ItemKey } from '../../aws/item-key.ts';
import { hashKey } from '../../keys/hash-key.ts';
import type { DispatchHead, MessageKey } from './head.ts';

// Keys of the messages table. The spellings are stored for 30 days or
// longer (D56): a test holds them letter for letter.

// Opt-outs live in the same table without a TTL (lib/opt-outs/opt-out-items.ts).

const dispatchPrefix = 'DISPATCH#';

/** Keys the dispatch's item (item-writes.ts). */
export function dispatchKey(dispatchId: string): ItemKey {
  return { pk: `DISPATCH#${dispatchId}`, sk: 'DISPATCH' };
}

/** Dispatches and claims are kept this long (R23); a dispatch counts from its acceptance. */
export const dispatchMemorySeconds = 30 * 86_400;

/** A scheduled send is kept this long after its last possible call (D56). */
export const keptAfterLastCallMs = 37 * 86_400_000;

/**
 * A dispatch lives at most 30 days until `Send-At`, 28 until its hours come, 30 of life, and the time after its last
 * call (D56).
 */
export const longestDispatchMemorySeconds = (30 + 28 + 30) * 86_400 + keptAfterLastCallMs / 1_000;

/** These facts of a head decide how long the dispatch is kept. */
export type DispatchAge = Pick<DispatchHead, 'acceptedAtMs' | 'keptUntilMs'>;

/** Returns the last possible call of a scheduled send, or undefined for other dispatches (D56). */
export function lastOwnCallMs({ keptUntilMs }: Pick<DispatchAge, 'keptUntilMs'>): number | undefined {
  return keptUntilMs === undefined ? undefined : keptUntilMs - keptAfterLastCallMs;
}

/** Returns when the stored items of a dispatch may be removed. */
export function forgottenAtMs({
  acceptedAtMs,
  keptUntilMs = acceptedAtMs + dispatchMemorySeconds * 1_000,
}: DispatchAge): number {
  return keptUntilMs;
}

/** Returns `forgottenAtMs` in seconds, for TTL. */
export function dispatchExpiresAtSeconds(dispatch: DispatchAge): number {
  return Math.ceil(forgottenAtMs(dispatch) / 1_000);
}

/** Sorts dispatches by acceptance. Without a dispatch id, it sorts before every dispatch of that moment. */
export function dispatchSortKey(atMs: number, dispatchId = ''): string {
  return `${String(atMs).padStart(15, '0')}#${dispatchId}`;
}

/** Inverts `dispatchSortKey`. */
export function timeOfDispatch(sortKey: string): number {
  return Number(sortKey.split('#', 1)[0]);
}

/** Keys the record of an acceptance (D40), written before the dispatch's item. */
export function acceptedKey(dispatchId: string): ItemKey {
  return { pk: `DISPATCH#${dispatchId}`, sk: 'ACCEPTED' };
}

/** Packed addresses of recipients are written with the record of the acceptance. */
export const recipientsPrefix = 'RECIPIENTS#';

export function recipientsKey(dispatchId: string, firstIndex: number): ItemKey {
  return { pk: `DISPATCH#${dispatchId}`, sk: `${recipientsPrefix}${firstIndex}` };
}

/**
 * A partition takes 1 MB a second, and acceptance writes up to 6 MB of a dispatch's parameters within two seconds. The
 * sixteen pages of everyday parameters leave room in their batch of 25 for what else the dispatch needs.
 */
const parametersPerPartition = 625;

/**
 * Keys the page of parameters that begins with this recipient (accept/parameter-pages.ts). A page never crosses
 * partitions.
 */
export function parametersKey({ dispatchId, index }: MessageKey): ItemKey {
  return {
    pk: `PARAMS#${dispatchId}#${Math.floor(index / parametersPerPartition)}`,
    sk: String(index).padStart(5, '0'),
  };
}

export function nextParameters(index: number): number {
  return (Math.floor(index / parametersPerPartition) + 1) * parametersPerPartition;
}

export function dispatchPartition(dispatchId: string): string {
  return `${dispatchPrefix}${dispatchId}`;
}

/**
 * Keys dispatches of a client from any DID, by acceptance (`dispatchSortKey`). Acceptance writes them, else the sender (D40, D59).
 */
export function dispatchesPartition(clientId: number): string {
  return `DISPATCHES#${clientId}`;
}

// A doubt means that receipts may resolve `unknown` messages of this dispatch (D39). Both sides write first and then
// read the other's item, so the second sees the first.

// A worker writes the doubt before it ends a recipient `unknown`, then reads the slice's receipts strongly and tells
// what they prove as taken. A later try ends proven recipients uncalled.

// A run of receipts appends them, then reads the doubt strongly and, if there is one, the slices of its messages: it
// tells what is `unknown` there as resolved.

/**
 * So no later try calls a recipient whose receipt came before the claim, and `unknown` with a receipt is not the last
 * that is told.
 */
export function unknownMarkKey(dispatchId: string): ItemKey {
  return { pk: dispatchPartition(dispatchId), sk: 'DOUBT' };
}

/** Inverts `unknownMarkKey` and `dispatchKey`. */
export function dispatchOfPartition(pk: unknown): string {
  return String(pk).slice(dispatchPrefix.length);
}

/**
 * The largest dispatch has 10 groups of receipts. Each is a page or two, even if every receipt is an item of its own.
 */
const receiptsPerGroup = 1_000;

export function receiptGroupOf(index: number): number {
  return Math.floor(index / receiptsPerGroup);
}

const receiptsPrefix = 'RECEIPTS#';

/** Keys receipts, appended by their runs and folded by their readers (receipts/fold-receipts.ts). */
export function receiptPartition(dispatchId: string, group: number): string {
  return `${receiptsPrefix}${dispatchId}#${group}`;
}

/** Inverts `receiptPartition`, without the group. */
export function dispatchOfReceipts(pk: string): string {
  return pk.slice(receiptsPrefix.length, pk.lastIndexOf('#'));
}

/** Keys the cost of a dispatch that the sums contain, under a version (D58; spend/statement.ts). */
export function spentKey(dispatchId: string): ItemKey {
  return { pk: dispatchPartition(dispatchId), sk: 'SPENT' };
}

/**
 * Keys the time when the next count of a dispatch's cost begins: receipts and the end of a dispatch write it after they have
 * queued the count (spend/later-counts.ts).
 */
export function countKey(dispatchId: string): ItemKey {
  return { pk: dispatchPartition(dispatchId), sk: 'COUNT' };
}

/** Keys what a dispatch has reserved of its client's month; acceptance writes it (budget/budgets-store.ts). */
export function reservedKey(dispatchId: string): ItemKey {
  return { pk: dispatchPartition(dispatchId), sk: 'RESERVED' };
}

/** Keys what is committed of a client's month (`YYYY-MM`, UTC), by reservations and counts of cost (D58). */
export function budgetKey(clientId: number, month: string): ItemKey {
  return { pk: `BUDGET#${clientId}`, sk: month };
}

/** Keys the daily sums of a client (`YYYY-MM-DD`, UTC), to which counts of cost and outcomes add (spend/spend.ts). */
export function spendPartition(clientId: number): string {
  return `SPEND#${clientId}`;
}

/** Daily sums and the rest of a month's money are kept this long. */
export const spendKeptDays = 400;

/** Returns when TTL removes the money of a day or month: a month after any page can ask for it. */
export function moneyKeptUntilSeconds(fromMs: number): number {
  return Math.ceil(fromMs / 1_000) + (spendKeptDays + 31) * 86_400;
}

/** Keys an acceptance (accept/idempotency.ts) by hash, because a client may put any text into its idempotency key. */
export function idempotencyKey(scope: {
  readonly clientId: number;
  readonly did: string;
  readonly key: string;
}): ItemKey {
  const hash = createHash('sha256').update(scope.key).digest('base64url');
  return { pk: `IDEMPOTENCY#${scope.clientId}#${scope.did}#${hash}`, sk: 'IDEMPOTENCY' };
}

/** Keys a look-up of a template at the platform (resolve/lookups.ts). */
export function lookupKey(question: string): ItemKey {
  return { pk: `QUESTION#${question}`, sk: 'QUESTION' };
}

/** Keys the look-ups of a client, counted by the minute (resolve/lookups.ts). */
export function lookupCountKey(clientId: number): ItemKey {
  return { pk: `QUESTIONS#${clientId}`, sk: 'QUESTIONS' };
}

/** Keys what is known of the pace of a number (D43; pace/known-pace.ts). */
export function paceKey(phoneNumberId: string): ItemKey {
  return { pk: `PACE#${phoneNumberId}`, sk: 'PACE' };
}

/** Keys the lease of a number's sender, or of one of its parts (sender/sender.ts). Each has its own partition. */
export function senderKey({ phoneNumberId, part }: { readonly phoneNumberId: string; readonly part: number }): ItemKey {
  return { pk: `SENDER#${phoneNumberId}#${part}`, sk: 'SENDER' };
}

/**
 * Keys the places of a number that workers of small requests have taken in a second (sender/places.ts). The second is
 * in the partition, so that none is hot.
 */
export function placesKey(of: {
  readonly phoneNumberId: string;
  readonly second: number;
  readonly share: string;
}): ItemKey {
  return { pk: `PLACES#${of.phoneNumberId}#${of.second}`, sk: of.share };
}

/** Each run of a worker reads the circuit breaker of the whole platform once (holds/breaker.ts). */
export const breakerKey: ItemKey = { pk: 'PLATFORM', sk: 'BREAKER' };

/**
 * Keys the holds of a WABA, its numbers and templates, read with the dispatch after each claim (D46; holds/hold.ts).
 */
export function holdsKey(wabaId: string): ItemKey {
  return { pk: `WABA#${wabaId}`, sk: 'HOLDS' };
}

const replacedPrefix = 'USERID#';

/**
 * Keys the id that has replaced a business-scoped user id, for acceptance (accept/replaced-ids.ts), by WABA, because
 * portfolios share no ids.
 */
export function replacedIdKey(wabaId: string, userId: string): ItemKey {
  return { pk: `${replacedPrefix}${wabaId}#${userId}`, sk: 'REPLACED' };
}

/** Inverts `replacedIdKey`. A user id contains no `#`. */
export function userIdOfReplaced(pk: string): string {
  return pk.slice(pk.lastIndexOf('#') + 1);
}

/**
 * Keys the platform's id of a message, for clients that want answers (inbound/sent-ids.ts), by hash, for the id
 * contains the recipient's number (D60).
 */
export function sentIdKey(message: {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly platformMessageId: string;
}): ItemKey {
  return { pk: `SENT#${hashKey([message.wabaId, message.phoneNumberId, message.platformMessageId], 26)}`, sk: 'SENT' };
}

/**
 * Keys other ids of a person during an erasure (D60; erase/learned-ids-store.ts). `name` is a keyed digest
 * (opt-outs/person-name.ts).
 */
export function erasingKey(name: string): ItemKey {
  return { pk: `ERASING#${name}`, sk: 'IDS' };
}

/** Keys the percentages of a month's budget that a client was told of, `2026-11` (D58; budget/notify-thresholds.ts). */
export function notifiedThresholdsKey(clientId: number, month: string): ItemKey {
  return { pk: `BUDGET#${clientId}`, sk: `${month}#TOLD` };
}
