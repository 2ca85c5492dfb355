import * as v from 'valibot';
import { lastOwnCallMs, nextParameters } from '../items.ts';
import { type JobHead, type Recipient, type StoredRecipient, StoredRecipientSchema } from '../job.ts';
import { packedText, unpacked } from './packed-json.ts';

/*
 * The recipients of a job with their parameters, as they are stored from acceptance until the job has been sent: cut into
 * pages by size, because recipients differ a hundredfold. Straight requests (chunk.ts) store none.
 */

/** Consecutive recipients, packed. */
export interface ParameterPage {
  readonly firstIndex: number;
  readonly recipients: Uint8Array;
}

/** A page of more than one recipient has at most so many bytes. */
export const maxPageBytes = 50_000;

/** One recipient as JSON: unpacked it still fits an item (DynamoDB: 400 KB), with its key and the rest. */
export const maxRecipientBytes = 390_000;

/** A request has at most 6 MB, and its recipients are no longer as they are written here. */
const maxUnpackedBytes = 16 * 1_048_576;

/** A page of which nothing is known yet is taken to pack to a third. */
const firstShare = 0.33;

/** What is left free for a page that packs worse than the one before. */
const fillTo = 0.9;

/** The parameters of one recipient are larger than an item may be. */
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

/** The parameters of a job are not there: it ended more than seven days ago, or was never queued. */
export class ParametersGone extends Error {
  override readonly name = 'ParametersGone';
}

/**
 * The pages of a job's recipients, in their order, each made when it is asked for: no two of them are in memory for the
 * generator's sake. The same recipients make the same pages. Throws `RecipientTooLarge`.
 */
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

/** The recipients from one on as JSON: as many as have so many characters, at least one, and none of the next partition. */
function textsFrom(recipients: readonly Recipient[], firstIndex: number, mostCharacters: number): string[] {
  const texts: string[] = [];
  let characters = 0;
  for (const [at, recipient] of recipients.slice(firstIndex, nextParameters(firstIndex)).entries()) {
    const text = JSON.stringify(recipient);
    const bytes = Buffer.byteLength(text);
    if (bytes > maxRecipientBytes) throw new RecipientTooLarge(firstIndex + at, bytes);
    characters += text.length;
    if (characters > mostCharacters && at > 0) break;
    texts.push(text);
  }
  return texts;
}

/** The first of them that fit a page. */
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

/** The recipients of a page. */
export function recipientsOfPage(page: Uint8Array): StoredRecipient[] {
  return v.parse(v.array(StoredRecipientSchema), unpacked(page, maxUnpackedBytes));
}

const daySeconds = 86_400;

/**
 * Seven days after the latest moment at which a job normally ends: a day after its acceptance, or its time to live, or the last
 * possible call of a send with a time of its own (D56).
 */
export function parametersExpireAtSeconds(head: JobHead): number {
  const { acceptedAtMs, expiresAtMs = 0 } = head;
  const endsAtMs = Math.max(acceptedAtMs + daySeconds * 1_000, expiresAtMs, lastOwnCallMs(head) ?? 0);
  return Math.ceil(endsAtMs / 1_000) + 7 * daySeconds;
}
