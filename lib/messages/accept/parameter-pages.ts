import * as v from 'valibot';
import { type DispatchHead, type Recipient, type StoredRecipient, StoredRecipientSchema } from '../dispatch/head.ts';
import { lastOwnCallMs, nextParameters } from '../dispatch/items.ts';
import { packedText, unpacked } from '../dispatch/packed-json.ts';

/*
 * Pages keep recipients and parameters until the dispatch is sent. They are cut by size, because recipients differ a
 * hundredfold.
 */

export interface ParameterPage {
  readonly firstIndex: number;
  readonly recipients: Uint8Array;
}

/** Only a page of one recipient may be larger. */
export const maxPageBytes = 50_000;

/** Even unpacked, one recipient's JSON fits an item (DynamoDB: 400 KB) with its key. */
export const maxRecipientBytes = 390_000;

/** A request has at most 6 MB, and its recipients are not longer in this form. */
const maxUnpackedBytes = 16 * 1_048_576;

/** The packing ratio is unknown before the first page. */
const firstShare = 0.33;

/** A page may pack worse than the one before. */
const fillTo = 0.9;

export class RecipientTooLarge extends Error {
  override readonly name = 'RecipientTooLarge';
  readonly index: number;
  readonly bytes: number;

  constructor(index: number, bytes: number) {
    super('the parameters of one recipient are larger than an item');
    this.index = index;
    this.bytes = bytes;
  }
}

/** The dispatch ended more than seven days ago, or was never queued. */
export class ParametersGone extends Error {
  override readonly name = 'ParametersGone';
}

/** Yields pages in order and lazily, so that memory holds one. Is deterministic. Throws `RecipientTooLarge`. */
export function* pagesOf(recipients: readonly Recipient[]): Generator<ParameterPage> {
  let share = firstShare;
  for (let firstIndex = 0; firstIndex < recipients.length; ) {
    const texts = textsFrom(recipients, firstIndex, (fillTo * maxPageBytes) / share);
    const page = pageOf(texts);
    yield { firstIndex, recipients: page.packed };
    firstIndex += page.count;
    share = page.packed.length / page.characters;
  }
}

/**
 * Returns JSON of the recipients from `firstIndex`: at least one, at most `mostCharacters`, none of the next partition.
 */
function textsFrom(recipients: readonly Recipient[], firstIndex: number, mostCharacters: number): string[] {
  const texts: string[] = [];
  let characters = 0;
  for (const [at, recipient] of recipients.slice(firstIndex, nextParameters(firstIndex)).entries()) {
    const text = JSON.stringify(recipient);
    // A character has three bytes at most.
    const bytes = 3 * text.length > maxRecipientBytes ? Buffer.byteLength(text) : 0;
    if (bytes > maxRecipientBytes) throw new RecipientTooLarge(firstIndex + at, bytes);
    characters += text.length;
    if (characters > mostCharacters && at > 0) break;
    texts.push(text);
  }
  return texts;
}

function pageOf(texts: readonly string[]): {
  readonly packed: Uint8Array;
  readonly count: number;
  readonly characters: number;
} {
  for (let count = texts.length; ; ) {
    const json = `[${texts.slice(0, count).join(',')}]`;
    const packed = packedText(json);
    if (packed.length <= maxPageBytes || count === 1) return { packed, count, characters: json.length };
    count = Math.max(1, Math.floor((count * fillTo * maxPageBytes) / packed.length));
  }
}

export function recipientsOfPage(page: Uint8Array): StoredRecipient[] {
  return v.parse(v.array(StoredRecipientSchema), unpacked(page, maxUnpackedBytes));
}

const daySeconds = 86_400;

/**
 * Returns seven days after the dispatch's normal end: a day after acceptance, its time to live, or the last possible
 * call of a scheduled send (D56).
 */
export function parametersExpireAtSeconds(head: DispatchHead): number {
  const { acceptedAtMs, expiresAtMs = 0 } = head;
  const endsAtMs = Math.max(acceptedAtMs + daySeconds * 1_000, expiresAtMs, lastOwnCallMs(head) ?? 0);
  return Math.ceil(endsAtMs / 1_000) + 7 * daySeconds;
}
