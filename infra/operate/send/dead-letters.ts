import * as v from 'valibot';
import { LaterVersion, queuedMessage } from '../../../lib/aws/queued-message.ts';
import { HintMessageSchema, hintMessageVersion } from '../../../lib/hints/hint-message.ts';
import { forgottenAtMs } from '../../../lib/messages/dispatch/items.ts';
import { decodeSenderWake } from '../../../lib/messages/dispatch/sender-wake.ts';
import { decodeSmallRequest } from '../../../lib/messages/dispatch/small-request-message.ts';
import { InboundMessageSchema, inboundMessageVersion } from '../../../lib/messages/inbound/inbound-message.ts';
import { ReceiptMessageSchema, receiptMessageVersion } from '../../../lib/messages/receipts/receipt.ts';
import { lateness } from '../../../lib/messages/send/deadlines.ts';
import { CountMessageSchema, countVersion } from '../../../lib/messages/spend/later-counts.ts';
import { decodeSync } from '../../../lib/templates/sync/sync-message.ts';
import { decodeQueued } from '../../../lib/webhooks/delivery/pending.ts';
import type { QueueName } from '../../queues.ts';

/**
 * The verdict on a kind of dead letter is to send it `again` (safe), to leave it (`stays`), or to drop it (`useless`,
 * because another way replaces it).
 */
export interface LetterKind {
  readonly verdict: 'again' | 'stays' | 'useless';
  /** The text says what they are and why; it also names the kind. */
  readonly text: string;
}

/** A small request holds messages of one dispatch, by their indexes in it. */
export interface LetterMessages {
  readonly dispatchId: string;
  readonly indexes: readonly number[];
}

export interface JudgedLetter extends LetterKind {
  /** A small request has messages to people; other letters have none. */
  readonly messages?: LetterMessages;
}

const maySend: LetterKind = {
  verdict: 'again',
  text: 'small requests whose messages may still leave: who was claimed before is not called again, for claims are kept for 30 days; who was not is called once, in the pace of the number',
};
const tooLate: LetterKind = {
  verdict: 'again',
  text: 'small requests that are too late: their messages end expired or failed, and the platform is not called',
};
const forgotten: LetterKind = {
  verdict: 'stays',
  text: 'small requests of dispatches that are forgotten: their claims may be gone, and with them what says who was called',
};
const later: LetterKind = {
  verdict: 'stays',
  text: 'written by a later version (D47): deploy that version, then repeat with its command',
};
const unreadable: LetterKind = {
  verdict: 'stays',
  text: 'not readable: they would come back here; look at one of them, and at what has written it',
};

/** In these queues the message's content makes no difference. */
const kindOfQueue = {
  receipts: { verdict: 'again', text: 'receipts: one that comes twice changes nothing (D39)' },
  inbound: { verdict: 'again', text: 'words of people: one that comes twice changes nothing (D55)' },
  counts: { verdict: 'again', text: 'counts of what dispatches cost: one that comes twice counts nothing twice (D58)' },
  sync: {
    verdict: 'useless',
    text: 'synchronizations: their locks have gone to others, so they would stop at once; start a new one, which reads all of it',
  },
  dispatch: {
    verdict: 'useless',
    text: 'wakes of numbers: a sweep sends others within a minute for all that waits (D25)',
  },
  hints: {
    verdict: 'useless',
    text: 'hints that something has changed: what they say is old; start a synchronization, which reads all of it',
  },
} as const satisfies Partial<Record<QueueName, LetterKind>>;

/** Judges a dead letter. Never throws: an unreadable letter is a kind too. */
export function judgeLetter(queue: QueueName, body: string, nowMs: number): JudgedLetter {
  try {
    return judged(queue, body, nowMs);
  } catch (error) {
    return error instanceof LaterVersion ? later : unreadable;
  }
}

/** Reads a message of these queues as its consumer does. Throws on text that it cannot read, and `LaterVersion`. */
const readerOfQueue: Readonly<Record<keyof typeof kindOfQueue, (body: string) => unknown>> = {
  receipts: (body) => v.parse(ReceiptMessageSchema, queuedMessage(body, receiptMessageVersion)),
  inbound: (body) => v.parse(InboundMessageSchema, queuedMessage(body, inboundMessageVersion)),
  counts: (body) => v.parse(CountMessageSchema, queuedMessage(body, countVersion)),
  sync: decodeSync,
  dispatch: decodeSenderWake,
  hints: (body) => v.parse(HintMessageSchema, queuedMessage(body, hintMessageVersion)),
};

function judged(queue: QueueName, body: string, nowMs: number): JudgedLetter {
  switch (queue) {
    case 'urgent':
      return judgedRequest(body, nowMs);
    case 'events':
      return 'wakeClientId' in decodeQueued(body)
        ? { verdict: 'again', text: 'calls to look at what waits for a receiver: a second look finds nothing more' }
        : { verdict: 'again', text: 'events: receivers tell a repeated one by its id (D34)' };
    default:
      readerOfQueue[queue](body);
      return kindOfQueue[queue];
  }
}

function judgedRequest(body: string, nowMs: number): JudgedLetter {
  const { head, recipients } = decodeSmallRequest(body);
  const messages = { dispatchId: head.dispatchId, indexes: recipients.map((_, index) => index) };
  if (forgottenAtMs(head) <= nowMs) return { ...forgotten, messages };
  return { ...(lateness({ ...head, attempt: 0 }, nowMs) === undefined ? maySend : tooLate), messages };
}
