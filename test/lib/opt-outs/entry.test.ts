import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  changeTimeMs,
  clockSkewMs,
  currentChange,
  type Entry,
  isStopped,
  joined,
  mayStart,
  type OptOutChange,
  withChange,
} from '../../../lib/opt-outs/entry.ts';
import {
  mergedOptOuts,
  mostNames,
  noOptOuts,
  optOutsOfChange,
  refuses,
  stopFor,
} from '../../../lib/opt-outs/person.ts';

const atMs = 1_800_000_000_000;
const word = (source: OptOutChange['source'], says: OptOutChange['says'], laterMs = 0): OptOutChange => ({
  source,
  says,
  atMs: atMs + laterMs,
});
const entryOf = (...words: readonly OptOutChange[]) => words.reduce<Entry>(withChange, {});

/** Moments are few, so that many words have the same time. */
const anyWord: fc.Arbitrary<OptOutChange> = fc.record({
  source: fc.constantFrom<OptOutChange['source']>('platform', 'refused', 'reply', 'quick_reply', 'api', 'import'),
  says: fc.constantFrom('stopped', 'started'),
  atMs: fc.constantFrom(...[0, 1_000, clockSkewMs, clockSkewMs + 1, 60_000].map((laterMs) => atMs + laterMs)),
});
const anyWords = fc.array(anyWord, { minLength: 1, maxLength: 7 });

test('whatever the order and the repetition of words, the entry is the same (D55)', () => {
  const told = anyWords.chain((words) =>
    fc.tuple(fc.constant(words), fc.shuffledSubarray([...words, ...words], { minLength: 2 * words.length })),
  );
  fc.assert(
    fc.property(told, ([words, otherwise]) => {
      expect(entryOf(...otherwise)).toEqual(entryOf(...words));
    }),
  );
});

test('two entries become what all of their words would have made', () => {
  fc.assert(
    fc.property(anyWords, anyWords, (some, others) => {
      const both = joined(entryOf(...some), entryOf(...others));
      expect(both).toEqual(entryOf(...some, ...others));
      expect(joined(both, entryOf(...others))).toBe(both);
    }),
  );
});

test('the client lifts nothing that the person or the platform has said, whenever either comes', () => {
  fc.assert(
    fc.property(anyWords, anyWord, (words, client) => {
      fc.pre(client.source === 'api' || client.source === 'import');
      const entry = entryOf(...words);
      if (!mayStart(entry)) expect(isStopped(withChange(entry, client))).toBe(true);
      const person = words.filter(({ source }) => source !== 'api' && source !== 'import');
      if (isStopped(entryOf(...person))) expect(isStopped(entry)).toBe(true);
    }),
  );
});

describe('the word that holds', () => {
  /** Reads words like `reply stopped 9`, whose number is the time in milliseconds after the first. */
  const wordsIn = (text: string) =>
    text.split(', ').map((each) => {
      const [source, says, laterMs] = each.split(' ') as [OptOutChange['source'], OptOutChange['says'], string?];
      return word(source, says, Number(laterMs ?? 0));
    });

  test.each([
    ['a stop, then a resume', 'platform stopped, platform started 1', 1],
    ['a resume that overtook the stop', 'platform started 1, platform stopped', 0],
    ['both in one second', 'reply started, reply stopped', 1],
    ['131050 before the resume, told later', 'platform started 1, refused stopped', 0],
    ["a person's stop, then the API's start", 'reply stopped, api started 9000', 0],
    ["the API's stop, then its start", 'api stopped, api started 1', 1],
    ["an import, then the person's start", `import stopped, reply started ${clockSkewMs + 1}`, 1],
    ["the API's stop, and a start in doubt", `api stopped, reply started ${clockSkewMs}`, 0],
    ["a person's start, then the API's stop", 'reply started, api stopped 1', 1],
    ['two starts', 'reply started 2, api started 1', 0],
    ['two stops: that which the API may not lift', 'reply stopped, api stopped 1', 0],
  ])('%s: of %s, that at %i', (_, text, holds) => {
    const words = wordsIn(text);
    expect(currentChange(entryOf(...words))).toEqual(words[holds]);
    expect(currentChange(entryOf(...words.toReversed()))).toEqual(words[holds]);
  });

  test('of none', () => {
    expect(currentChange({})).toBeUndefined();
  });

  test('a word that changes nothing leaves the same entry', () => {
    const entry = entryOf(word('reply', 'stopped', 1), word('api', 'stopped'));
    for (const again of [word('reply', 'stopped', 1), word('reply', 'started'), word('import', 'started')])
      expect(withChange(entry, again)).toBe(entry);
  });
});

test.each<readonly [OptOutChange['says'], number | undefined, number | undefined]>([
  ['stopped', atMs - 86_400_000, atMs - 86_400_000],
  ['started', atMs - 86_400_000, atMs - 86_400_000],
  ['started', atMs + 60_000, atMs + 60_000],
  ['stopped', undefined, atMs],
  ['started', undefined, undefined],
  ['stopped', atMs + 60_001, atMs],
  ['started', atMs + 60_001, undefined],
])('a %s of %j counts from %j', (says, told, counts) => {
  expect(changeTimeMs(says, told, atMs)).toBe(counts);
});

describe('a person', () => {
  const client = { kind: 'client', clientId: 7 } as const;
  const number = { kind: 'number', phoneNumberId: '31', wabaId: '11' } as const;
  const words = { ...number, kind: 'words' } as const;
  const sender = { clientId: 7, phoneNumberId: '31', wabaId: '11' };
  const stoppedIn = (...scopes: readonly Parameters<typeof optOutsOfChange>[0][]) =>
    scopes.map((scope) => optOutsOfChange(scope, word('platform', 'stopped'), ['a'])).reduce(mergedOptOuts, noOptOuts);

  test("is stopped for the client alone, for a number's senders, or for those of a WABA", () => {
    expect(stopFor(noOptOuts, sender)).toBeUndefined();
    expect(stopFor(stoppedIn(client), sender)).toEqual(word('platform', 'stopped'));
    expect(stopFor(stoppedIn(client), { ...sender, clientId: 8 })).toBeUndefined();
    expect(stopFor(stoppedIn(client), { ...sender, phoneNumberId: '32', wabaId: '12' })).toBeDefined();
    expect(stopFor(stoppedIn(number), { ...sender, clientId: 8 })).toBeDefined();
    expect(stopFor(stoppedIn(number), { ...sender, phoneNumberId: '32' })).toBeUndefined();
    expect(stopFor(stoppedIn(words), { ...sender, clientId: 8 })).toBeDefined();
    expect(stopFor(stoppedIn(words), { ...sender, phoneNumberId: '32' })).toBeUndefined();
    expect(
      stopFor(stoppedIn({ kind: 'waba', wabaId: '11' }), { ...sender, clientId: 8, phoneNumberId: '32' }),
    ).toBeDefined();
  });

  test("a start in the client's scope leaves the platform's stop", () => {
    const started = mergedOptOuts(stoppedIn(number), optOutsOfChange(client, word('api', 'started', 9_000), ['a']));
    expect(refuses(stoppedIn(number), client, word('api', 'started', 9_000))).toBe(false);
    expect(stopFor(started, sender)).toEqual(word('platform', 'stopped'));
  });

  test("a start in the number's words leaves the platform's stop of the number, and a client's own", () => {
    const started = optOutsOfChange(words, word('reply', 'started', 9_000), ['a']);
    for (const scope of [client, number]) {
      expect(stopFor(mergedOptOuts(stoppedIn(scope, words), started), sender)).toEqual(word('platform', 'stopped'));
    }
    expect(stopFor(mergedOptOuts(stoppedIn(words), started), sender)).toBeUndefined();
  });

  test('the API is refused where the person stopped, in that scope and for a start alone', () => {
    expect(refuses(stoppedIn(client), client, word('api', 'started', 9_000))).toBe(true);
    expect(refuses(stoppedIn(client), client, word('api', 'stopped'))).toBe(false);
    expect(refuses(stoppedIn(client), client, word('reply', 'started', 9_000))).toBe(false);
    expect(refuses(stoppedIn(client), { ...client, clientId: 8 }, word('api', 'started'))).toBe(false);
  });

  test('has so many names and no more', () => {
    const names = Array.from({ length: 40 }, (_, at) => `name ${at}`);
    const all = names
      .map((name) => optOutsOfChange(client, word('reply', 'stopped'), ['a', name]))
      .reduce(mergedOptOuts);
    expect(all.names).toHaveLength(mostNames);
    expect(mergedOptOuts(all, all)).toBe(all);
  });
});
