import { log } from '../../observe/log.ts';
import { type AccountUpdate, byTime, matterScopes } from '../../platform/webhook/account-update.ts';
import { type HoldRule, type Holds, noHolds, opened } from './hold.ts';
import { ended } from './hold-ends.ts';
import { reportOpened } from './open-hold.ts';

// The platform's account updates open and end holds (D46) and are emitted (D41). They come twice, late and in any
// order, and only holds and `restoredMs` are stored. So no update is trusted for long.

// A restoring update may hide another reason: the next refusal opens the hold again. A restricting update not newer
// than a stored restoration is ignored, unless both come together.

// A stale restricting update's end may be revoked already: a message probes within ten seconds, and the hold ends when
// the platform takes it.

// A review of the account (`account_review_update`) opens nothing: the platform refuses what it stops, and a send finds
// that.

const scopes = ['waba', 'utility'] as const;

/** Updates carry whole seconds of another clock, and a hold begins when its update leaves the queue. */
export const apartMs = 60_000;

/**
 * Drops restricting updates that were restored since. Updates that came together stay: a run may have died between
 * writing the holds and emitting.
 */
export function newUpdates(updates: readonly AccountUpdate[], { restoredMs = {} }: Holds): AccountUpdate[] {
  const isOver = ({ matter, atMs }: AccountUpdate) => atMs <= (restoredMs[matter] ?? Number.NEGATIVE_INFINITY);
  const comesWithItsEnd = ({ matter }: AccountUpdate) =>
    updates.some(
      (update) => update.kind === 'restored' && update.matter === matter && update.atMs === restoredMs[matter],
    );
  return updates
    .filter((update) => update.kind === 'restored' || !isOver(update) || comesWithItsEnd(update))
    .toSorted(byTime);
}

/** Returns the holds after these updates. The last update with a code on a scope wins. */
export function afterUpdates(updates: readonly AccountUpdate[], nowMs: number): HoldRule {
  return (holds) => {
    const current = newUpdates(updates, holds);
    const last = scopes.flatMap(
      (scope) => current.findLast((update) => isOfHold(update) && scopeOf(update) === scope) ?? [],
    );
    return last.reduce((next, update) => afterUpdate(update, nowMs)(next), withRestored(holds, current));
  };
}

function isOfHold({ code }: AccountUpdate): boolean {
  return code !== undefined;
}

function scopeOf({ matter }: AccountUpdate): (typeof scopes)[number] {
  return matterScopes[matter];
}

function afterUpdate(update: AccountUpdate, nowMs: number): HoldRule {
  const { kind, code = '', atMs, untilMs } = update;
  const scope = scopeOf(update);
  if (kind === 'restored') {
    return (holds) => {
      const sinceMs = holds.holds[scope]?.sinceMs;
      return sinceMs === undefined || sinceMs > atMs + apartMs ? holds : ended(scope, sinceMs, nowMs)(holds);
    };
  }
  if (untilMs !== undefined && untilMs <= nowMs) return (holds) => holds;
  const isFresh = nowMs - atMs <= apartMs;
  return opened(scope, { code, nowMs, ...(isFresh && untilMs !== undefined ? { untilMs } : {}) });
}

/** Only the platform's clock is stored: the time of arrival is later and would hide updates made before it. */
function withRestored(holds: Holds, updates: readonly AccountUpdate[]): Holds {
  const { restoredMs = {} } = holds;
  const news = updates.filter(
    ({ kind, untimed, matter, atMs }) => kind === 'restored' && !untimed && atMs > (restoredMs[matter] ?? 0),
  );
  if (news.length === 0) return holds;
  const newsMs = Object.fromEntries(news.map(({ matter, atMs }) => [matter, atMs]));
  return { ...holds, restoredMs: { ...restoredMs, ...newsMs } };
}

export interface AccountUpdatePorts {
  /** Works like `HoldsOfWabas.change`; returns undefined when this writer always lost the race. */
  readonly changeHolds: (wabaId: string, rule: HoldRule) => Promise<Holds | undefined>;
  readonly nowMs: () => number;
}

/**
 * Applies the platform's updates of a WABA. Returns the updates to emit, after the holds are written. Throws when the
 * updates must come again.
 */
export function applyAccountUpdates({ changeHolds, nowMs }: AccountUpdatePorts) {
  return async (wabaId: string, updates: readonly AccountUpdate[]): Promise<readonly AccountUpdate[]> => {
    let before = noHolds;
    const after = await changeHolds(wabaId, (holds) => {
      before = holds;
      return afterUpdates(updates, nowMs())(holds);
    });
    if (after === undefined) throw new Error(`the holds of ${wabaId} could not be changed`);
    for (const scope of scopes) {
      const [was, is] = [before.holds[scope], after.holds[scope]];
      if (was !== undefined && is === undefined) log('hold.ended', { wabaId, scope, code: was.code });
      if (was === undefined && is !== undefined) reportOpened({ wabaId, scope, code: is.code }, log);
    }
    const applied = newUpdates(updates, before);
    for (const update of applied) log(`account.${update.kind}`, { wabaId, scope: scopeOf(update), code: update.word });
    return applied;
  };
}
