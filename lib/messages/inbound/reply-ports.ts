import type { Reply } from '../../platform/webhook/person-updates.ts';
import type { DispatchHead } from '../dispatch/head.ts';

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
