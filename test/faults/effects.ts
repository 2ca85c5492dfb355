import type { OpName, Reply } from './stepped-run.ts';

/**
 * What came of one call: `reply_lost` took effect; `repeated` is the SDK's own retry after a lost reply. `lands_late` is a
 * time-out whose write takes effect at a later moment, and `again_late` the same of a try that the SDK has repeated.
 */
export type Effect =
  | 'ok'
  | 'fails'
  | 'reply_lost'
  | 'repeated'
  | 'lands_late'
  | 'again_late'
  | keyof typeof platformEffects;

export const platformEffects = {
  accepted: { accepts: true, reply: { value: { platformMessageId: 'platform-1' } } },
  throttled: { accepts: false, reply: { failure: 'refused', code: 130429 } },
  not_connected: { accepts: false, reply: { failure: 'not_sent' } },
  refused: { accepts: false, reply: { failure: 'refused', code: 131026 } },
  lost_before: { accepts: false, reply: { failure: 'ambiguous' } },
  lost_after: { accepts: true, reply: { failure: 'ambiguous' } },
  held: { accepts: true, reply: { value: { platformMessageId: 'platform-1', messageStatus: 'paused' } } },
  /** Against its own documentation: receipts are there to find out. */
  throttled_yet_taken: { accepts: true, reply: { failure: 'refused', code: 130429 } },
} as const satisfies Record<string, { readonly accepts: boolean; readonly reply: Reply }>;

export type PlatformEffect = keyof typeof platformEffects;

/** What a platform does that keeps to its documentation, and does not hold messages back. */
export const documentedEffects: readonly PlatformEffect[] = [
  'accepted',
  'throttled',
  'not_connected',
  'refused',
  'lost_before',
  'lost_after',
];

/** What can come of each other call, beside that it goes well: a lost reply only matters where there was an effect. */
export const effectsOf: Readonly<Record<Exclude<OpName, 'send'>, readonly Effect[]>> = {
  take: ['fails', 'reply_lost', 'repeated'],
  release: ['fails', 'reply_lost'],
  settle: ['fails', 'reply_lost', 'repeated'],
  findBatchRecord: ['fails'],
  recordBatch: ['fails', 'reply_lost'],
  sendEvents: ['fails', 'reply_lost'],
  sendLater: ['fails', 'reply_lost', 'repeated'],
  postpone: ['fails'],
  reserve: ['fails', 'reply_lost'],
  mark: ['fails', 'reply_lost'],
  hasReceipt: ['fails'],
  append: ['fails', 'reply_lost'],
  doubtfulJobs: ['fails'],
  findClaims: ['fails'],
  findBatchRecords: ['fails'],
  settleSeen: ['fails', 'reply_lost', 'repeated'],
  ofGroup: ['fails'],
  settleByHand: ['fails', 'reply_lost'],
};

export function isGood(effect: Effect): boolean {
  return effect === 'ok' || effect === 'accepted' || effect === 'held';
}
