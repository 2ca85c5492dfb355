import type { OpName, Reply } from './stepped-run.ts';

/** What came of one call: `reply_lost` took effect; `repeated` is the SDK's own retry after a lost reply. */
export type Effect = 'ok' | 'fails' | 'reply_lost' | 'repeated' | keyof typeof platformEffects;

export const platformEffects = {
  accepted: { accepts: true, reply: { value: { platformMessageId: 'platform-1' } } },
  throttled: { accepts: false, reply: { failure: 'refused', code: 130429 } },
  not_connected: { accepts: false, reply: { failure: 'not_sent' } },
  refused: { accepts: false, reply: { failure: 'refused', code: 131026 } },
  lost_before: { accepts: false, reply: { failure: 'ambiguous' } },
  lost_after: { accepts: true, reply: { failure: 'ambiguous' } },
} as const satisfies Record<string, { readonly accepts: boolean; readonly reply: Reply }>;

/** What can come of each call, beside the obvious: a lost reply only matters where there was an effect. */
export const effectsOf: Readonly<Record<OpName, readonly Effect[]>> = {
  take: ['ok', 'fails', 'reply_lost', 'repeated'],
  release: ['ok', 'fails', 'reply_lost'],
  settle: ['ok', 'fails', 'reply_lost', 'repeated'],
  findBatchRecord: ['ok', 'fails'],
  recordBatch: ['ok', 'fails', 'reply_lost'],
  sendEvents: ['ok', 'fails', 'reply_lost'],
  sendLater: ['ok', 'fails', 'reply_lost', 'repeated'],
  postpone: ['ok', 'fails'],
  send: Object.keys(platformEffects) as (keyof typeof platformEffects)[],
};

export function isGood(effect: Effect): boolean {
  return effect === 'ok' || effect === 'accepted';
}
