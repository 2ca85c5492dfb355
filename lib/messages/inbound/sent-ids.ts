import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { nameOf } from '../../observe/name-of.ts';
import type { WantedEvents } from '../../webhooks/event.ts';
import { type JobAge, jobExpiresAtSeconds } from '../items.ts';

/** A message of this service. */
export interface SentMessage {
  readonly jobId: string;
  readonly index: number;
}

/** The same as the platform knows it: its ids are told of one number, and count for that alone. */
export interface PlatformMessage {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly platformMessageId: string;
}

/** Writes the index of platform ids. May be repeated; throws when not all of it may be written. */
export type KeepSentIds = (sent: readonly (SentMessage & PlatformMessage)[], expiresAtSeconds: number) => Promise<void>;

/** Looks in it, strongly consistent. Throws when the store cannot be reached. */
export type FindSentId = (message: PlatformMessage) => Promise<SentMessage | undefined>;

/** What of a chunk the index needs. */
interface SentChunk extends Pick<PlatformMessage, 'wabaId' | 'phoneNumberId'>, JobAge {
  readonly jobId: string;
  readonly clientId: number;
}

/** How a message of the chunk has ended; what the platform did not take has no id of it. */
interface Ending {
  readonly recipient: { readonly index: number };
  readonly outcome: { readonly state: string; readonly platformMessageId?: string };
}

/** Notes what the platform calls the messages of a chunk that it took, where their client wants to be told of answers. */
export type NoteSent = (chunk: SentChunk, endings: readonly Ending[]) => Promise<void>;

/** So long does a worker go by what a client wanted: the index of a client that has just asked for answers begins so much later. */
const wishKeptMs = 60_000;

export interface NoteSentPorts {
  readonly wanted: WantedEvents;
  readonly keep: KeepSentIds;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Notes the platform's ids for clients that want `message.replied`, and of others none: an item a message is what an index by id
 * costs. A wish that cannot be read counts as one, as for events (D41). Throws when the index cannot be written.
 */
export function noteSentOf({ wanted, keep, nowMs, log }: NoteSentPorts): NoteSent {
  const wishes = new Map<number, { readonly readAtMs: number; readonly wants: boolean }>();
  return async (chunk, endings) => {
    const { jobId, clientId, wabaId, phoneNumberId } = chunk;
    const sent = endings.flatMap(({ recipient: { index }, outcome: { platformMessageId } }) =>
      platformMessageId === undefined ? [] : [{ jobId, index, wabaId, phoneNumberId, platformMessageId }],
    );
    if (sent.length > 0 && (await wants(clientId))) await keep(sent, jobExpiresAtSeconds(chunk));
  };

  async function wants(clientId: number): Promise<boolean> {
    const kept = wishes.get(clientId);
    const readAtMs = nowMs();
    if (kept !== undefined && readAtMs - kept.readAtMs < wishKeptMs) return kept.wants;
    try {
      const wish = { readAtMs, wants: (await wanted(clientId)).has('message.replied') };
      wishes.set(clientId, wish);
      return wish.wants;
    } catch (error) {
      log('event.wanted_not_read', { clientId, error: nameOf(error) });
      return true;
    }
  }
}
