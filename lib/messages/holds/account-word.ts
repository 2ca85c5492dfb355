import { log } from '../../observe/log.ts';
import { type AccountWord, bySaid, matterScopes } from '../../platform/webhook/account-update.ts';
import { ended, type HoldRule, type Holds, noHolds, opened } from './hold.ts';
import { tellOpened } from './open-hold.ts';

/*
 * What the platform says of an account opens and ends holds (D46), and is told to its clients (D41). Its words come twice,
 * late and in any order, and nothing is kept of them but the holds, and when something was last restored. So none is believed
 * for long:
 *
 * - A word that ends a hold may come after another reason for it. The next message is refused, and opens it again.
 * - A word that restricts and is not younger than one that has restored the same opens nothing. Nor is it told, unless it
 *   comes with that one.
 * - Else, unless it is fresh, the end that it tells is not believed: it may have been taken back by a word that is still under
 *   way. A message asks within ten seconds, and the hold is over when the platform takes it.
 *
 * A review of the account (`account_review_update`) opens nothing: what it stops, the platform refuses, and a send tells.
 */

const scopes = ['waba', 'utility'] as const;

/**
 * How far a word and the hold that it is about may lie apart: words are told in whole seconds by another clock, and a hold that
 * a word has opened begins only when that word comes out of its queue.
 */
export const apartMs = 60_000;

/**
 * The words that say something, by their time: all but those that restrict what has been restored since, by a word that is not
 * among them. Of words that came together a run may have written the holds, and died before it told them.
 */
export function newWords(words: readonly AccountWord[], { restoredMs = {} }: Holds): AccountWord[] {
  const isOver = ({ matter, atMs }: AccountWord) => atMs <= (restoredMs[matter] ?? Number.NEGATIVE_INFINITY);
  const comesWithItsEnd = ({ matter }: AccountWord) =>
    words.some((word) => word.kind === 'restored' && word.matter === matter && word.atMs === restoredMs[matter]);
  return words.filter((word) => word.kind === 'restored' || !isOver(word) || comesWithItsEnd(word)).toSorted(bySaid);
}

/** The holds after these words: of several with a code on one scope the last counts. */
export function afterWords(words: readonly AccountWord[], nowMs: number): HoldRule {
  return (holds) => {
    const said = newWords(words, holds);
    const last = scopes.flatMap((scope) => said.findLast((word) => isOfHold(word) && scopeOf(word) === scope) ?? []);
    return last.reduce((next, word) => afterWord(word, nowMs)(next), withRestored(holds, said));
  };
}

function isOfHold({ code }: AccountWord): boolean {
  return code !== undefined;
}

function scopeOf({ matter }: AccountWord): (typeof scopes)[number] {
  return matterScopes[matter];
}

function afterWord(word: AccountWord, nowMs: number): HoldRule {
  const { kind, code = '', atMs, untilMs } = word;
  const scope = scopeOf(word);
  if (kind === 'restored') {
    return (holds) => {
      const sinceMs = holds.holds[scope]?.sinceMs;
      return sinceMs === undefined || sinceMs > atMs + apartMs ? holds : ended(scope, sinceMs)(holds);
    };
  }
  if (untilMs !== undefined && untilMs <= nowMs) return (holds) => holds;
  const isFresh = nowMs - atMs <= apartMs;
  return opened(scope, { code, nowMs, ...(isFresh && untilMs !== undefined ? { untilMs } : {}) });
}

/** Only the platform's own clock is remembered: the time of an arrival is later, and would hide what was said before it. */
function withRestored(holds: Holds, words: readonly AccountWord[]): Holds {
  const { restoredMs = {} } = holds;
  const news = words.filter(
    ({ kind, untimed, matter, atMs }) => kind === 'restored' && !untimed && atMs > (restoredMs[matter] ?? 0),
  );
  if (news.length === 0) return holds;
  const newsMs = Object.fromEntries(news.map(({ matter, atMs }) => [matter, atMs]));
  return { ...holds, restoredMs: { ...restoredMs, ...newsMs } };
}

/** The holds of WABAs, as far as the words on accounts need them. */
export interface AccountWordPorts {
  /** As `HoldsOfWabas.change`: undefined when other writers were always first. */
  readonly changeHolds: (wabaId: string, rule: HoldRule) => Promise<Holds | undefined>;
  readonly nowMs: () => number;
}

/**
 * Takes the platform's words on a WABA, and logs what they have opened and ended. Returns those that its clients are to be
 * told, once the holds are written. Throws when they must come again.
 */
export function takeAccountWords({ changeHolds, nowMs }: AccountWordPorts) {
  return async (wabaId: string, words: readonly AccountWord[]): Promise<readonly AccountWord[]> => {
    let before = noHolds;
    const after = await changeHolds(wabaId, (holds) => {
      before = holds;
      return afterWords(words, nowMs())(holds);
    });
    if (after === undefined) throw new Error(`the holds of ${wabaId} could not be changed`);
    for (const scope of scopes) {
      const [was, is] = [before.holds[scope], after.holds[scope]];
      if (was !== undefined && is === undefined) log('hold.ended', { wabaId, scope, code: was.code });
      if (was === undefined && is !== undefined) tellOpened({ wabaId, scope, code: is.code }, log);
    }
    const told = newWords(words, before);
    for (const word of told) log(`account.${word.kind}`, { wabaId, scope: scopeOf(word), code: word.word });
    return told;
  };
}
