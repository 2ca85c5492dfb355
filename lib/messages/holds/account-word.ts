import { present } from '../../keys/present.ts';
import { log } from '../../observe/log.ts';
import type { AccountWord } from '../../platform/webhook/account-update.ts';
import { ended, type HoldRule, type Holds, noHolds, opened } from './hold.ts';
import { tellOpened } from './open-hold.ts';

/*
 * What the platform says of an account opens and ends holds (D46). Its words come twice, late and in any order, and nothing is
 * kept of them but the holds. So none is believed for long:
 *
 * - A word that ends a hold may come after another reason for it. The next message is refused, and opens it again.
 * - A word that opens a hold may come after the one that ended it, or be repeated for days. Unless it is fresh, the end that
 *   it tells is not believed: a message asks within ten seconds, and the hold is over when the platform takes it.
 *
 * A review of the account (`account_review_update`) opens nothing: what it stops, the platform refuses, and a send tells.
 */

/** What a word concerns; one with a code opens a hold, one without ends it. */
const meanings = {
  no_templates: { scope: 'waba', code: '368' },
  disabled: { scope: 'waba', code: '131031' },
  reinstated: { scope: 'waba' },
  utility_limited: { scope: 'utility', code: '131064' },
  utility_released: { scope: 'utility' },
} as const satisfies Readonly<
  Record<AccountWord['says'], { readonly scope: 'waba' | 'utility'; readonly code?: string }>
>;

const scopes = ['waba', 'utility'] as const;

/**
 * How far a word and the hold that it is about may lie apart: words are told in whole seconds by another clock, and a hold that
 * a word has opened begins only when that word comes out of its queue.
 */
export const apartMs = 60_000;

type TimedWord = AccountWord & { readonly atMs: number };

/**
 * The holds after these words. Of several words on one scope the last counts; of one second, the one that ends a hold: what is
 * held in error waits, what leaves in error is refused and held again. A word without a time is of now.
 */
export function afterWords(words: readonly AccountWord[], nowMs: number): HoldRule {
  const rules = scopes.flatMap((scope) => {
    const word = words
      .filter(({ says }) => meanings[says].scope === scope)
      .map(({ atMs = nowMs, ...said }) => ({ ...said, atMs }))
      .toSorted((one, other) => one.atMs - other.atMs || Number(ends(one)) - Number(ends(other)))
      .at(-1);
    return word === undefined ? [] : [afterWord(word, nowMs)];
  });
  return (holds) => rules.reduce((next, rule) => rule(next), holds);
}

function ends({ says }: AccountWord): boolean {
  return !('code' in meanings[says]);
}

function afterWord({ says, atMs, untilMs }: TimedWord, nowMs: number): HoldRule {
  const meaning = meanings[says];
  const { scope } = meaning;
  if (!('code' in meaning)) {
    return (holds) => {
      const sinceMs = holds.holds[scope]?.sinceMs;
      return sinceMs === undefined || sinceMs > atMs + apartMs ? holds : ended(scope, sinceMs)(holds);
    };
  }
  if (untilMs !== undefined && untilMs <= nowMs) return (holds) => holds;
  const isFresh = nowMs - atMs <= apartMs;
  return opened(scope, { code: meaning.code, nowMs, ...(isFresh ? present({ untilMs }) : {}) });
}

/** The holds of WABAs, as far as the words on accounts need them. */
export interface AccountWordPorts {
  /** As `HoldsOfWabas.change`: undefined when other writers were always first. */
  readonly changeHolds: (wabaId: string, rule: HoldRule) => Promise<Holds | undefined>;
  readonly nowMs: () => number;
}

/** Takes the platform's words on a WABA, and logs what they have opened and ended. Throws when they must come again. */
export function takeAccountWords({ changeHolds, nowMs }: AccountWordPorts) {
  return async (wabaId: string, words: readonly AccountWord[]): Promise<void> => {
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
  };
}
