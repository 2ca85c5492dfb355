import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { afterUpdates, apartMs, newUpdates } from '../../../../lib/messages/holds/account-updates.ts';
import { type Holds, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { type AccountUpdate, matterScopes } from '../../../../lib/platform/webhook/account-update.ts';

const nowMs = 1_800_000_000_000;
const day = 86_400_000;

type Said = Omit<AccountUpdate, 'atMs' | 'untilMs'>;
const opening = {
  noTemplates: { kind: 'restricted', matter: 'sending', word: 'RESTRICTED_BIZ_INITIATED_MESSAGING', code: '368' },
  disabled: { kind: 'restricted', matter: 'sending', word: 'DISABLE', code: '131031' },
  utilityLimited: {
    ...{ kind: 'restricted', matter: 'utility', code: '131064' },
    word: 'RATE_LIMITED_UTILITY_TEMPLATE_MESSAGING',
  },
} as const satisfies Record<string, Said>;
const ending = {
  reinstated: { kind: 'restored', matter: 'sending', word: 'REINSTATE', code: '131031' },
  utilityReleased: {
    ...{ kind: 'restored', matter: 'utility', code: '131064' },
    word: 'UTILITY_TEMPLATE_ABUSE_RATE_LIMIT_RECOVERY',
  },
} as const satisfies Record<string, Said>;
/** These words open no hold, or end none. */
const holding = {
  planned: { kind: 'restricted', matter: 'sending', word: 'SCHEDULE_FOR_DISABLE' },
  noNewTemplates: { kind: 'restricted', matter: 'utility_templates', word: 'RESTRICTED_UTILITY_TEMPLATES' },
  unbanned: { kind: 'restored', matter: 'utility_templates', word: 'UTILITY_TEMPLATE_ABUSE_UNBAN' },
} as const satisfies Record<string, Said>;
const ofHolds: readonly Said[] = [...Object.values(opening), ...Object.values(ending)];
const everything: readonly Said[] = [...ofHolds, ...Object.values(holding)];

const scopeOf = ({ matter }: Said) => matterScopes[matter];
const other = { waba: 'utility', utility: 'waba' } as const;
const both = opened('utility', { code: '131064', nowMs })(opened('waba', { code: '131042', nowMs })(noHolds));

describe('a word that opens a hold (D46)', () => {
  test.each(Object.entries(opening))('%s', (_, said) => {
    const scope = scopeOf(said);
    const told = (word: Partial<AccountUpdate>) =>
      afterUpdates([{ ...said, atMs: nowMs, ...word }], nowMs)(noHolds).holds;
    const hold = { sinceMs: nowMs, code: said.code, asks: 0, nextAskMs: nowMs + 10_000 };
    expect(told({})).toEqual({ [scope]: hold });
    expect(told({ untimed: true })).toEqual({ [scope]: hold });
    const untilMs = nowMs + 3_600_000;
    const until = { [scope]: { ...hold, untilMs, nextAskMs: untilMs } };
    expect(told({ untilMs })).toEqual(until);
    expect(told({ atMs: nowMs - apartMs, untilMs })).toEqual(until);
    // A late word may have been revoked already, so a message probes.
    expect(told({ atMs: nowMs - apartMs - 1, untilMs })).toEqual({ [scope]: hold });
    expect(told({ untilMs: nowMs })).toEqual({});
    expect(told({ untilMs: nowMs - day })).toEqual({});
  });

  test('leaves the reason of a hold that is open, and tells its end', () => {
    const restricted = { ...opening.noTemplates, atMs: nowMs, untilMs: nowMs + day };
    const after = afterUpdates([restricted], nowMs + 1)(both);
    expect(after.holds.waba).toMatchObject({ sinceMs: nowMs, code: '131042', untilMs: nowMs + day });
    expect(afterUpdates([{ ...opening.disabled, atMs: nowMs }], nowMs + 1)(both)).toBe(both);
  });

  test('opens nothing without a code', () => {
    const words = Object.values(holding).map((said) => ({ ...said, atMs: nowMs, untimed: true as const }));
    expect(afterUpdates(words, nowMs)(both)).toBe(both);
    expect(afterUpdates(words, nowMs)(noHolds)).toBe(noHolds);
    // The same hold hides no hold with a code.
    const then = [{ ...opening.disabled, atMs: nowMs }, ...words.map((word) => ({ ...word, atMs: nowMs + 1_000 }))];
    expect(afterUpdates(then, nowMs + 1_000)(noHolds).holds.waba?.code).toBe('131031');
  });
});

describe('a word that ends a hold (D46)', () => {
  test.each(Object.entries(ending))('%s: what began before it, and no other scope', (_, said) => {
    const scope = scopeOf(said);
    const told = (atMs: number) => afterUpdates([{ ...said, atMs }], nowMs + day)(both);
    expect(Object.keys(told(nowMs + 1).holds)).toEqual([other[scope]]);
    expect(Object.keys(told(nowMs - apartMs).holds)).toEqual([other[scope]]);
    expect(told(nowMs - apartMs - 1).holds).toBe(both.holds);
    expect(afterUpdates([{ ...said, atMs: nowMs, untimed: true }], nowMs)(both).holds[scope]).toBeUndefined();
    expect(afterUpdates([{ ...said, atMs: nowMs, untimed: true }], nowMs)(noHolds)).toBe(noHolds);
  });

  test('of one second comes last, and no word is taken for a later one', () => {
    const words: AccountUpdate[] = [
      { ...ending.reinstated, atMs: nowMs },
      { ...opening.disabled, atMs: nowMs },
    ];
    expect(afterUpdates(words, nowMs)(noHolds).holds).toEqual({});
    const later = { ...opening.disabled, atMs: nowMs + 1_000 };
    expect(afterUpdates([...words, later], nowMs)(noHolds).holds.waba).toBeDefined();
  });
});

describe('what was restored meanwhile (D41, D46)', () => {
  const restored = afterUpdates([{ ...ending.reinstated, atMs: nowMs }], nowMs)(noHolds);
  const says = (word: AccountUpdate, holds = restored) => [
    newUpdates([word], holds).length,
    afterUpdates([word], nowMs + 1_000)(holds).holds.waba?.code,
  ];

  test('a restriction that was said before, or in the same second, is neither held nor told; a later one is both', () => {
    expect(says({ ...opening.disabled, atMs: nowMs - 1_000 })).toEqual([0, undefined]);
    expect(says({ ...opening.disabled, atMs: nowMs })).toEqual([0, undefined]);
    expect(says({ ...opening.disabled, atMs: nowMs + 1_000 })).toEqual([1, '131031']);
    expect(says({ ...holding.planned, atMs: nowMs })).toEqual([0, undefined]);
  });

  test('one that comes with the word which restored is told again with it, unless a later word has restored since', () => {
    const restricted = { ...opening.disabled, atMs: nowMs };
    const words = [restricted, { ...ending.reinstated, atMs: nowMs + 5_000 }];
    const after = afterUpdates(words, nowMs + 6_000)(noHolds);
    expect(after.holds).toEqual({});
    expect(newUpdates(words, after)).toEqual(words);
    expect(newUpdates([restricted], after)).toEqual([]);
    expect(afterUpdates(words, nowMs + 7_000)(after)).toEqual(after);
    const later = afterUpdates([{ ...ending.reinstated, atMs: nowMs + 8_000 }], nowMs + 9_000)(after);
    expect(newUpdates(words, later)).toEqual([words[1]]);
  });

  test('it says nothing of another matter', () => {
    expect(newUpdates([{ ...holding.noNewTemplates, atMs: nowMs - day }], restored)).toHaveLength(1);
    const unbanned = afterUpdates([{ ...holding.unbanned, atMs: nowMs }], nowMs)(restored);
    expect(newUpdates([{ ...holding.noNewTemplates, atMs: nowMs - day }], unbanned)).toHaveLength(0);
    expect(says({ ...opening.disabled, atMs: nowMs - 1_000 }, unbanned)).toEqual([0, undefined]);
    expect(newUpdates([{ ...opening.utilityLimited, atMs: nowMs - day }], unbanned)).toHaveLength(1);
  });

  test('the latest time counts, and none that the platform has not told', () => {
    const earlier = afterUpdates([{ ...ending.reinstated, atMs: nowMs - day }], nowMs)(restored);
    expect(says({ ...opening.disabled, atMs: nowMs - 1_000 }, earlier)).toEqual([0, undefined]);
    const untimed = afterUpdates([{ ...ending.reinstated, atMs: nowMs, untimed: true }], nowMs)(noHolds);
    expect(says({ ...opening.disabled, atMs: nowMs - 1_000 }, untimed)).toEqual([1, '131031']);
  });
});

const word = (said: readonly Said[], atMs: fc.Arbitrary<number>): fc.Arbitrary<AccountUpdate> =>
  fc
    .tuple(fc.constantFrom(...said), atMs, fc.option(fc.integer({ min: nowMs - day, max: nowMs + 3 * day })))
    .map(([of, at, untilMs]) => ({ ...of, atMs: at, ...(untilMs === null ? {} : { untilMs }) }));
const anyWord = word(everything, fc.integer({ min: nowMs - 2 * day, max: nowMs + 2_000 }));

test('the same words again change nothing, nor does their order, and only these two scopes ever change (D46)', () => {
  const before = opened('number:1', { code: '133010', nowMs })({ ...both, silences: { 2: { runs: 1, atMs: nowMs } } });
  fc.assert(
    fc.property(
      fc.uniqueArray(anyWord, { maxLength: 6, selector: (said) => `${said.atMs} ${scopeOf(said)}` }),
      fc.constantFrom(noHolds, both, before),
      fc.integer({ min: 0, max: day }),
      (words, holds, laterMs) => {
        const after = afterUpdates(words, nowMs)(holds);
        expect(afterUpdates(words.toReversed(), nowMs)(holds)).toEqual(after);
        expect(afterUpdates(words, nowMs + laterMs)(after)).toBe(after);
        expect(after.silences).toEqual(holds.silences);
        const { waba: _waba, utility: _utility, ...others } = after.holds;
        expect(others).toEqual(holds === before ? { 'number:1': before.holds['number:1'] } : {});
      },
    ),
    { numRuns: 500 },
  );
});

test('what came together is told alike when it comes again, whether it was told or a crash came first (D41)', () => {
  fc.assert(
    fc.property(fc.array(anyWord, { maxLength: 6 }), fc.constantFrom(noHolds, both), (words, holds) => {
      const after = afterUpdates(words, nowMs)(holds);
      expect(newUpdates(words, after)).toEqual(newUpdates(words, holds));
      expect(afterUpdates(words, nowMs + 1)(after)).toBe(after);
    }),
    { numRuns: 500 },
  );
});

interface Delivery {
  readonly atMs: number;
  readonly word: AccountUpdate;
}

/** An account changes minutes or days apart; each word arrives once or more, after the given delays. */
const history = (said: readonly Said[]) =>
  fc.array(
    fc.record({
      word: word(said, fc.constant(0)),
      gapMs: fc.oneof(
        fc.integer({ min: apartMs + 2_000, max: 10 * apartMs }),
        fc.integer({ min: apartMs + 2_000, max: day }),
      ),
      delaysMs: fc.array(
        fc.oneof(
          fc.integer({ min: 0, max: 5_000 }),
          fc.integer({ min: 0, max: 20 * apartMs }),
          fc.integer({ min: 0, max: day }),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 6 },
  );

function deliveriesOf(
  said: readonly AccountUpdate[],
  changes: readonly { readonly delaysMs: readonly number[] }[],
): Delivery[] {
  return said
    .flatMap((told, at) => (changes[at]?.delaysMs ?? []).map((delayMs) => ({ atMs: told.atMs + delayMs, word: told })))
    .toSorted((one, two) => one.atMs - two.atMs);
}

/** Returns the holds after all deliveries, and the events of each. */
function played(deliveries: readonly Delivery[]): { readonly holds: Holds; readonly told: AccountUpdate[][] } {
  let holds = noHolds;
  const told = deliveries.map(({ atMs, word: said }) => {
    const words = newUpdates([said], holds);
    holds = afterUpdates([said], atMs)(holds);
    return words;
  });
  return { holds, told };
}

/** Gives each word, in order, its time in whole seconds, as the platform sends it. */
function saidIn(changes: readonly { readonly word: AccountUpdate; readonly gapMs: number }[]): AccountUpdate[] {
  let atMs = nowMs;
  return changes.map(({ word: { untilMs, ...said }, gapMs }) => {
    atMs += gapMs;
    const told = { ...said, atMs: Math.floor(atMs / 1_000) * 1_000 };
    return said.kind === 'restricted' && untilMs !== undefined ? { ...told, untilMs: untilMs - nowMs + atMs } : told;
  });
}

test('told twice, late and in any order, nothing that has ended is held for longer than a question takes (D46, R49)', () => {
  fc.assert(
    fc.property(history(ofHolds), (changes) => {
      const said = saidIn(changes);
      const deliveries = deliveriesOf(said, changes);
      const endMs = deliveries.at(-1)?.atMs ?? 0;
      const { holds } = played(deliveries).holds;
      for (const scope of ['waba', 'utility'] as const) {
        const last = said.filter((told) => scopeOf(told) === scope).at(-1);
        if (last === undefined) expect(holds[scope]).toBeUndefined();
        else if (last.kind === 'restored') expect(holds[scope]?.nextAskMs ?? 0).toBeLessThanOrEqual(endMs + 10_000);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('told twice, late and in any order, all is told but a restriction that is known to be over, and nothing else (D41, R49)', () => {
  fc.assert(
    fc.property(history(everything), (changes) => {
      const said = saidIn(changes);
      const deliveries = deliveriesOf(said, changes);
      const { told } = played(deliveries);
      deliveries.forEach(({ word: delivered }, at) => {
        const isOver = deliveries
          .slice(0, at)
          .some(
            ({ word: before }) =>
              before.kind === 'restored' && before.matter === delivered.matter && before.atMs >= delivered.atMs,
          );
        expect(told[at]).toEqual(delivered.kind === 'restricted' && isOver ? [] : [delivered]);
      });
    }),
    { numRuns: 1_000 },
  );
});

test('told at once, a WABA is held as the platform has said last (D46)', () => {
  fc.assert(
    fc.property(history(ofHolds), fc.integer({ min: 0, max: 5_000 }), (changes, delayMs) => {
      const said = saidIn(changes);
      const { holds } = played(said.map((told) => ({ atMs: told.atMs + delayMs, word: told }))).holds;
      for (const scope of ['waba', 'utility'] as const) {
        const ofScope = said.filter((told) => scopeOf(told) === scope);
        const since = ofScope.findLastIndex(({ kind }) => kind === 'restored') + 1;
        const open = ofScope
          .slice(since)
          .find(({ atMs, untilMs }) => untilMs === undefined || untilMs > atMs + delayMs);
        expect(holds[scope]?.code).toBe(open?.code);
      }
    }),
    { numRuns: 500 },
  );
});
