import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import advice from '../../../lib/platform/error-advice.json' with { type: 'json' };
import errorCodes from '../../../lib/platform/error-codes.json' with { type: 'json' };
import {
  codePaces,
  concerns,
  dropKindOf,
  holdKindOf,
  holdKinds,
  PlatformFailure,
  refusalAdvices,
  retryAdvices,
} from '../../../lib/platform/failure.ts';

const kinds = ['auth', 'integrity', 'throttle', 'other', 'bid', 'template', 'registration', 'mm_api'] as const;
const facts = { title: v.pipe(v.string(), v.nonEmpty()), status: v.pipe(v.number(), v.integer(), v.minValue(400)) };
const RowSchema = v.variant('kind', [
  v.strictObject({
    code: v.union([v.pipe(v.number(), v.integer()), v.literal('200-299')]),
    ...facts,
    kind: v.picklist(kinds),
    advice: v.picklist(refusalAdvices),
    pace: v.optional(v.picklist(codePaces)),
    holds: v.optional(v.picklist(holdKinds)),
    holdsWhenDropped: v.optional(v.picklist(holdKinds)),
    concerns: v.optional(v.picklist(concerns)),
    retry: v.picklist(retryAdvices),
  }),
  v.strictObject({
    code: v.literal(100),
    subcode: v.pipe(v.number(), v.integer()),
    ...facts,
    kind: v.literal('template_mgmt'),
    advice: v.literal('no'),
    concerns: v.picklist(concerns),
  }),
]);

const rows = v.parse(v.array(RowSchema), errorCodes);
const ofCodes = rows.flatMap((row) => (row.kind === 'template_mgmt' ? [] : [row]));

/** The platform lists these codes for accounts, numbers and people, but they never concern more than one person. */
const personal = [130403, 130472, 130497, 131021, 131026, 131049, 131050, 131062, 137000];

describe('the rows of error codes', () => {
  test('each code has one row, each subcode too', () => {
    const names = rows.map((row) => ('subcode' in row ? `100/${row.subcode}` : String(row.code)));
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('`later` names a pace, and a pace stands only beside `later` or trouble that passes', () => {
    const odd = ofCodes.filter(({ advice, pace }) =>
      pace === undefined ? advice === 'later' : advice !== 'later' && advice !== 'backoff',
    );
    expect(odd).toEqual([]);
  });

  test('every throttle has a pace, and every pace a code', () => {
    expect(ofCodes.filter(({ kind, pace }) => kind === 'throttle' && pace === undefined)).toEqual([]);
    expect(new Set(ofCodes.flatMap(({ pace }) => pace ?? []))).toEqual(new Set(codePaces));
  });

  test('each says whom it concerns: by what it holds, or by a word of its own', () => {
    const both = ofCodes.filter(({ holds, concerns: whom }) => (holds === undefined) === (whom === undefined));
    expect(both).toEqual([]);
    expect(new Set(rows.flatMap(({ concerns: whom }) => whom ?? []))).toEqual(new Set(concerns));
  });

  test('what holds anything passes by itself or is mended; what throttles passes; 131049 takes a day (D57)', () => {
    const passing = ofCodes.filter(({ holds, kind }) => holds !== undefined || kind === 'throttle' || kind === 'auth');
    expect(passing.filter(({ retry }) => retry !== 'yes')).toEqual([]);
    expect(ofCodes.flatMap(({ code, retry }) => (retry === 'after_a_day' ? [code] : []))).toEqual([131049]);
    // No retry mends what these codes say: they are final, or the request is wrong.
    const never = [33, 100, 130472, 130497, 131008, 131009, 131021, 131050, 131062, 132000, 132012, 132016, 132018];
    expect(ofCodes.filter(({ code, retry }) => never.includes(Number(code)) && retry !== 'never')).toEqual([]);
    expect(ofCodes.flatMap(({ code, retry }) => (retry === 'named' ? [code] : [])).sort()).toEqual(
      [130403, 131026, 131061, 132068, 135000].sort(),
    );
  });

  test('what concerns a person holds nothing, as an answer and by receipt', () => {
    const ofPersons = ofCodes.filter(({ concerns: whom }) => whom === 'recipient' || whom === 'country');
    expect(ofPersons.map(({ code }) => code)).toEqual(expect.arrayContaining(personal));
    for (const { code } of ofPersons) {
      expect([code, holdKindOf(Number(code)), dropKindOf(Number(code))]).toEqual([code, undefined, undefined]);
    }
  });

  test('each kind of hold has a code', () => {
    const held = ofCodes.flatMap(({ holds, holdsWhenDropped: kind = holds }) => kind ?? []);
    expect(new Set(held)).toEqual(new Set(holdKinds));
  });

  test('each code of a hold, a person or a country has its own words: the facts point at them', () => {
    const named = ofCodes.filter(
      ({ holds, holdsWhenDropped, concerns: whom }) =>
        holds !== undefined || holdsWhenDropped !== undefined || whom === 'recipient' || whom === 'country',
    );
    expect(named.map(({ code }) => String(code)).filter((code) => !(code in advice.codes))).toEqual([]);
  });

  test.each(ofCodes)('a failure with $code reads its advice, pace and hold from its row', (row) => {
    const code = row.code === '200-299' ? 250 : row.code;
    const failure = new PlatformFailure('refused', { code, httpStatus: row.status });
    expect([failure.advice, failure.pace, holdKindOf(code), dropKindOf(code)]).toEqual([
      row.advice,
      row.pace,
      row.holds,
      row.holdsWhenDropped,
    ]);
  });

  test('an unknown code is advised nothing', () => {
    const failure = new PlatformFailure('refused', { code: 999_999 });
    expect([failure.advice, failure.pace, holdKindOf(999_999)]).toEqual(['no', undefined, undefined]);
  });
});
