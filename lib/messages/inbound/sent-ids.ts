import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { SubscribedTypes } from '../../webhooks/event.ts';
import type { CallFacts } from '../dispatch/call-facts.ts';
import type { MessageKey } from '../dispatch/head.ts';
import { type DispatchAge, dispatchExpiresAtSeconds } from '../dispatch/items.ts';

/** The platform's id of a message counts for its number alone. */
export interface PlatformMessage {
  readonly wabaId: string;
  readonly phoneNumberId: string;
  readonly platformMessageId: string;
}

/** Writes to the index of platform ids. Is idempotent; rejects when any write may have failed. */
export type KeepSentIds = (sent: readonly (MessageKey & PlatformMessage)[], expiresAtSeconds: number) => Promise<void>;

/** Reads strongly. Rejects when the store cannot be reached. */
export type FindSentId = (message: PlatformMessage) => Promise<MessageKey | undefined>;

/** A message that the platform did not take has no platform id. */
export type NoteSent = (
  callFacts: Pick<
    CallFacts,
    'dispatchId' | 'clientId' | 'wabaId' | 'phoneNumberId' | 'heedsOptOuts' | keyof DispatchAge
  >,
  endings: readonly {
    readonly recipient: Pick<MessageKey, 'index'>;
    readonly outcome: { readonly state: string; readonly platformMessageId?: string };
  }[],
) => Promise<void>;

/** A worker caches a client's subscriptions this long: the index begins this much later. */
const wishKeptMs = 60_000;

export interface NoteSentPorts {
  readonly wanted: SubscribedTypes;
  readonly keep: KeepSentIds;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/**
 * Indexes ids of messages that heed opt-outs, because a stop word may answer them (D55), and of clients that subscribe
 * to `message.replied`. Others have none: each message costs an item. Unreadable subscriptions count as one (D41).
 */
export function noteSentOf({ wanted, keep, nowMs, log }: NoteSentPorts): NoteSent {
  const wishes = new Map<number, { readonly readAtMs: number; readonly wants: boolean }>();
  return async (callFacts, endings) => {
    const { dispatchId, clientId, wabaId, phoneNumberId } = callFacts;
    const sent = endings.flatMap(({ recipient: { index }, outcome: { platformMessageId } }) =>
      platformMessageId === undefined ? [] : [{ dispatchId, index, wabaId, phoneNumberId, platformMessageId }],
    );
    if (sent.length > 0 && (callFacts.heedsOptOuts || (await wants(clientId))))
      await keep(sent, dispatchExpiresAtSeconds(callFacts));
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
      log('event.wanted_not_read', { clientId, error: errorName(error) });
      return true;
    }
  }
}
