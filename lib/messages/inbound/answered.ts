import type { Did } from '../../access/directory.ts';
import type { Recipient } from '../../opt-outs/person-name.ts';
import type { Reply } from '../../platform/webhook/person-words.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import type { JobHead } from '../job.ts';
import type { InboundWord } from './inbound-message.ts';

/** The message of ours that a person has answered: its job, and its place in it. */
export interface Answered {
  readonly head: JobHead;
  readonly index: number;
}

/** Finds what a reply answers; undefined where neither payload nor context tells. Throws when it cannot be asked. */
export type FindAnswered = (
  reply: Reply,
  number: { readonly wabaId: string; readonly phoneNumberId: string },
) => Promise<Answered | undefined>;

/** A reply with the one client that may read it. */
export interface ToldReply {
  readonly word: Extract<InboundWord, { readonly kind: 'reply' }>;
  /** Undefined where the number is no client's any more, and what is answered tells the client. */
  readonly did: Did | undefined;
  readonly number: { readonly wabaId: string; readonly phoneNumberId: string };
  readonly clientId: number;
  /** All names of the person that the platform's word spells, the number first. */
  readonly recipients: readonly Recipient[];
  readonly answered: Answered | undefined;
}

/** What is told of a reply: events whose ids follow from it, so that a repetition tells the same. */
export type TellReply = (told: ToldReply) => Promise<readonly ServiceEvent[]>;
