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

/** What can come of each other call, beside the obvious: a lost reply only matters where there was an effect. */
export const effectsOf: Readonly<Record<Exclude<OpName, 'send'>, readonly Effect[]>> = {
  take: ['ok', 'fails', 'reply_lost', 'repeated'],
  release: ['ok', 'fails', 'reply_lost'],
  settle: ['ok', 'fails', 'reply_lost', 'repeated'],
  findBatchRecord: ['ok', 'fails'],
  recordBatch: ['ok', 'fails', 'reply_lost'],
  sendEvents: ['ok', 'fails', 'reply_lost'],
  sendLater: ['ok', 'fails', 'reply_lost', 'repeated'],
  postpone: ['ok', 'fails'],
  reserve: ['ok', 'fails', 'reply_lost'],
  mark: ['ok', 'fails', 'reply_lost'],
  hasReceipt: ['ok', 'fails'],
  append: ['ok', 'fails', 'reply_lost'],
  doubtfulJobs: ['ok', 'fails'],
  findClaims: ['ok', 'fails'],
  findBatchRecords: ['ok', 'fails'],
  settleSeen: ['ok', 'fails', 'reply_lost', 'repeated'],
  ofGroup: ['ok', 'fails'],
};

export function isGood(effect: Effect): boolean {
  return effect === 'ok' || effect === 'accepted' || effect === 'held';
}
