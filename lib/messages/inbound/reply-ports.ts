import type { Did } from '../../access/directory.ts';
import type { Recipient } from '../../opt-outs/person-name.ts';
import type { Reply } from '../../platform/webhook/person-updates.ts';
import type { ServiceEvent } from '../../webhooks/event.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import type { InboundUpdate } from './inbound-message.ts';

export interface RepliedToMessage {
  readonly head: DispatchHead;
  readonly index: number;
}

/**
 * Finds the answered message; returns undefined if neither payload nor context names one. Throws when the store cannot
 * be reached.
 */
export type FindRepliedTo = (
  reply: Reply,
  number: { readonly wabaId: string; readonly phoneNumberId: string },
) => Promise<RepliedToMessage | undefined>;

/** Returns the address that a message went to, as its client wrote it; undefined once it is erased or forgotten. */
export type AddressOf = (message: {
  readonly dispatchId: string;
  readonly index: number;
}) => Promise<string | undefined>;

/** Only this client may read the reply. */
export interface ClientReply {
  readonly word: Extract<InboundUpdate, { readonly kind: 'reply' }>;
  /** Without it, the number belongs to no client; the answered message then decides the client. */
  readonly did: Did | undefined;
  readonly number: { readonly wabaId: string; readonly phoneNumberId: string };
  readonly clientId: number;
  /** All known ids of the person, the number first. */
  readonly recipients: readonly Recipient[];
  readonly answered: RepliedToMessage | undefined;
}

/** Returns the events about a reply. Their ids follow from the reply, so a repetition is idempotent. */
export type EventsOfReply = (reply: ClientReply) => Promise<readonly ServiceEvent[]>;
