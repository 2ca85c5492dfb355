import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterWords, apartMs } from '../../../../lib/messages/holds/account-word.ts';
import { type Holds, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import type { AccountWord } from '../../../../lib/platform/webhook/account-update.ts';

const nowMs = 1_800_000_000_000;
const day = 86_400_000;
const opening = { no_templates: '368', disabled: '131031', utility_limited: '131064' } as const;
const scopeOf = (says: AccountWord['says']) => (says.startsWith('utility') ? 'utility' : 'waba');
const other = { waba: 'utility', utility: 'waba' } as const;
const both = opened('utility', { code: '131064', nowMs })(opened('waba', { code: '131042', nowMs })(noHolds));

describe('a word that opens a hold (D46)', () => {
  test.each(Object.entries(opening) as [keyof typeof opening, string][])('%s: %s', (says, code) => {
    const scope = scopeOf(says);
    const told = (word: Partial<AccountWord>) => afterWords([{ says, ...word }], nowMs)(noHolds).holds;
    const hold = { sinceMs: nowMs, code, asks: 0, nextAskMs: nowMs + 10_000 };
    expect(told({ atMs: nowMs })).toEqual({ [scope]: hold });
    expect(told({})).toEqual({ [scope]: hold });
    const untilMs = nowMs + 3_600_000;
    const until = { [scope]: { ...hold, untilMs, nextAskMs: untilMs } };
    expect(told({ untilMs })).toEqual(until);
    expect(told({ atMs: nowMs - apartMs, untilMs })).toEqual(until);
    // One that comes late may have been taken back: a message asks.
    expect(told({ atMs: nowMs - apartMs - 1, untilMs })).toEqual({ [scope]: hold });
    expect(told({ atMs: nowMs, untilMs: nowMs })).toEqual({});
    expect(told({ atMs: nowMs, untilMs: nowMs - day })).toEqual({});
  });

  test('leaves the reason of a hold that is open, and tells its end', () => {
    const after = afterWords([{ says: 'no_templates', atMs: nowMs, untilMs: nowMs + day }], nowMs + 1)(both);
    expect(after.holds.waba).toMatchObject({ sinceMs: nowMs, code: '131042', untilMs: nowMs + day });
    expect(afterWords([{ says: 'disabled', atMs: nowMs }], nowMs + 1)(both)).toBe(both);
  });
});

describe('a word that ends a hold (D46)', () => {
  test.each(['reinstated', 'utility_released'] as const)('%s: what began before it, and no other scope', (says) => {
    const scope = scopeOf(says);
    const told = (atMs: number) => afterWords([{ says, atMs }], nowMs + day)(both);
    expect(Object.keys(told(nowMs + 1).holds)).toEqual([other[scope]]);
    expect(Object.keys(told(nowMs - apartMs).holds)).toEqual([other[scope]]);
    expect(told(nowMs - apartMs - 1)).toBe(both);
    expect(afterWords([{ says }], nowMs)(both).holds[scope]).toBeUndefined();
    expect(afterWords([{ says }], nowMs)(noHolds)).toBe(noHolds);
  });

  test('of one second comes last, and no word is taken for a later one', () => {
    const words: AccountWord[] = [
      { says: 'reinstated', atMs: nowMs },
      { says: 'disabled', atMs: nowMs },
    ];
    expect(afterWords(words, nowMs)(noHolds)).toBe(noHolds);
    expect(afterWords([...words, { says: 'disabled', atMs: nowMs + 1_000 }], nowMs)(noHolds).holds.waba).toBeDefined();
  });
});

const word = (atMs: fc.Arbitrary<number>) =>
  fc.record(
    {
      says: fc.constantFrom(...(Object.keys(opening) as AccountWord['says'][]), 'reinstated', 'utility_released'),
      atMs,
      untilMs: fc.integer({ min: nowMs - day, max: nowMs + 3 * day }),
    },
    { requiredKeys: ['says', 'atMs'] },
  ) as fc.Arbitrary<AccountWord>;
const anyWord = word(fc.integer({ min: nowMs - 2 * day, max: nowMs + 2_000 }));

test('the same words again change nothing, nor does their order, and only these two scopes ever change (D46)', () => {
  const before = opened('number:1', { code: '133010', nowMs })({ ...both, silences: { 2: { runs: 1, atMs: nowMs } } });
  fc.assert(
    fc.property(
      fc.uniqueArray(anyWord, { maxLength: 6, selector: ({ atMs, says }) => `${atMs} ${scopeOf(says)}` }),
      fc.constantFrom(noHolds, both, before),
      fc.integer({ min: 0, max: day }),
      (words, holds, laterMs) => {
        const after = afterWords(words, nowMs)(holds);
        expect(afterWords(words.toReversed(), nowMs)(holds)).toEqual(after);
        expect(afterWords(words, nowMs + laterMs)(after)).toBe(after);
        expect(after.silences).toEqual(holds.silences);
        const { waba: _waba, utility: _utility, ...others } = after.holds;
        expect(others).toEqual(holds === before ? { 'number:1': before.holds['number:1'] } : {});
      },
    ),
    { numRuns: 500 },
  );
});

interface Delivery {
  readonly atMs: number;
  readonly word: AccountWord;
}

/** Changes of an account, each minutes or days after the one before, and the times after which its word arrives, once or more. */
const history = fc.array(
  fc.record({
    word: word(fc.constant(0)),
    gapMs: fc.oneof(
      fc.integer({ min: apartMs + 2_000, max: 10 * apartMs }),
      fc.integer({ min: apartMs + 2_000, max: day }),
    ),
    delaysMs: fc.array(
      fc.oneof(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 20 * apartMs }), fc.integer({ max: day })),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

function played(deliveries: readonly Delivery[]): Holds {
  return deliveries
    .toSorted((one, two) => one.atMs - two.atMs)
    .reduce((holds, { atMs, word: told }) => afterWords([told], atMs)(holds), noHolds);
}

/** What was said, in order: the time of each word in whole seconds, as the platform tells it. */
function saidIn(changes: readonly { readonly word: AccountWord; readonly gapMs: number }[]): AccountWord[] {
  let atMs = nowMs;
  return changes.map(({ word: { says, untilMs }, gapMs }) => {
    atMs += gapMs;
    const told = { says, atMs: Math.floor(atMs / 1_000) * 1_000 };
    return says in opening && untilMs !== undefined ? { ...told, untilMs: untilMs - nowMs + atMs } : told;
  });
}

test('told twice, late and in any order, nothing that has ended is held for longer than a question takes (D46, R49)', () => {
  fc.assert(
    fc.property(history, (changes) => {
      const said = saidIn(changes);
      const deliveries = said.flatMap((told, at) =>
        (changes[at]?.delaysMs ?? []).map((delayMs) => ({ atMs: (told.atMs ?? 0) + Math.abs(delayMs), word: told })),
      );
      const endMs = Math.max(...deliveries.map(({ atMs }) => atMs));
      const { holds } = played(deliveries);
      for (const scope of ['waba', 'utility'] as const) {
        const last = said.filter(({ says }) => scopeOf(says) === scope).at(-1);
        if (last === undefined) expect(holds[scope]).toBeUndefined();
        else if (!(last.says in opening)) expect(holds[scope]?.nextAskMs ?? 0).toBeLessThanOrEqual(endMs + 10_000);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('told at once, a WABA is held as the platform has said last (D46)', () => {
  fc.assert(
    fc.property(history, fc.integer({ min: 0, max: 5_000 }), (changes, delayMs) => {
      const said = saidIn(changes);
      const { holds } = played(said.map((told) => ({ atMs: (told.atMs ?? 0) + delayMs, word: told })));
      for (const scope of ['waba', 'utility'] as const) {
        const ofScope = said.filter(({ says }) => scopeOf(says) === scope);
        const since = ofScope.findLastIndex(({ says }) => !(says in opening)) + 1;
        const open = ofScope
          .slice(since)
          .find(({ atMs = 0, untilMs }) => untilMs === undefined || untilMs > atMs + delayMs);
        expect(holds[scope]?.code).toBe(open && opening[open.says as keyof typeof opening]);
      }
    }),
    { numRuns: 500 },
  );
});
