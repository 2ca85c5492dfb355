import { isHint } from '../../hints/hint-message.ts';
import { accountUpdatesOf } from '../../platform/webhook/account-update.ts';
import { listOf, objectOf, type PlatformUpdate } from '../../platform/webhook/envelope.ts';
import type { messageFields } from '../../platform/webhook/fields.ts';

export type CountsByKind = Readonly<Record<string, number>>;

/** These keys accompany the lists in a value about messages. */
const frame: ReadonlySet<string> = new Set(['messaging_product', 'metadata', 'contacts']);

/** These lists are read entry by entry; their readers count ignored entries themselves. */
const listsRead: Readonly<Record<(typeof messageFields)[number], readonly string[]>> = {
  messages: ['statuses', 'messages'],
  standby: ['messages'],
  user_preferences: ['user_preferences'],
};

/** For fields with kinds, it reads the key that names the kind. */
const kindIn: ReadonlyMap<string, (value: PlatformUpdate['value']) => unknown> = new Map([
  ['account_update', (value) => value['event']],
  ['account_alerts', (value) => objectOf(value['alert_info'])?.['alert_type']],
  ['account_review_update', (value) => value['decision']],
]);

/** Names come from outside. Implausible names, and those beyond the limit, count as this one. */
const otherName = 'other';
const nameForm = /^[A-Za-z0-9_]{1,64}$/;
const mostKinds = 20;

/**
 * Counts by field, or field and kind (`account_update.ACCOUNT_VIOLATION`, `messages.errors`), in at most 21 kinds.
 * Never throws.
 */
export function ignoredUpdates(updates: readonly PlatformUpdate[]): CountsByKind {
  const counts = new Map<string, number>();
  for (const update of updates) {
    for (const [kind, times] of kindsIn(update)) {
      const known = counts.has(kind) || counts.size < mostKinds ? kind : otherName;
      counts.set(known, (counts.get(known) ?? 0) + times);
    }
  }
  return Object.fromEntries(counts);
}

function kindsIn(update: PlatformUpdate): (readonly [kind: string, times: number])[] {
  const { field, value, atMs = 0 } = update;
  if (isAboutMessages(field)) return kindsOfMessages(field, value);
  const isRead = field === 'account_update' ? accountUpdatesOf([update], atMs).length > 0 : isHint(field);
  if (isRead) return [];
  const kind = kindIn.get(field)?.(value);
  return [[kind === undefined ? nameOf(field) : `${nameOf(field)}.${nameOf(kind)}`, 1]];
}

function isAboutMessages(field: string): field is keyof typeof listsRead {
  return Object.hasOwn(listsRead, field);
}

/** A key without a list counts once. */
function kindsOfMessages(
  field: keyof typeof listsRead,
  value: PlatformUpdate['value'],
): (readonly [kind: string, times: number])[] {
  const keys = Object.keys(value).filter((key) => !frame.has(key));
  if (keys.length === 0) return [[field, 1]];
  return keys.flatMap((key) => {
    const list = listOf(value[key]);
    if (list !== undefined && listsRead[field].includes(key)) return [];
    return [[`${field}.${nameOf(key)}`, Math.max(1, list?.length ?? 1)] as const];
  });
}

function nameOf(value: unknown): string {
  return typeof value === 'string' && nameForm.test(value) ? value : otherName;
}
