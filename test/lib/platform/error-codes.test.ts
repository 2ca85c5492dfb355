import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import errorCodes from '../../../lib/platform/error-codes.json' with { type: 'json' };
import { codePaces, holdKindOf, holdKinds, PlatformFailure, refusalAdvices } from '../../../lib/platform/failure.ts';
import { documentOf, namesIn, tableRows } from '../../support/documents.ts';

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
  }),
  v.strictObject({
    code: v.literal(100),
    subcode: v.pipe(v.number(), v.integer()),
    ...facts,
    kind: v.literal('template_mgmt'),
    advice: v.literal('no'),
  }),
]);

const rows = v.parse(v.array(RowSchema), errorCodes);
const ofCodes = rows.flatMap((row) => (row.kind === 'template_mgmt' ? [] : [row]));

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

  test('the facts say of each code of a hold what it concerns, and of no other', () => {
    const told = tableRows(documentOf('lib/platform/FACTS.md'), '| Code | Concerns |').map(([code, concerns = '']) => [
      Number(code),
      ...namesIn(concerns),
    ]);
    const held = ofCodes.flatMap(({ code, holds }) => (holds === undefined ? [] : [[code, holds]]));
    expect(told.sort()).toEqual(held.sort());
    expect(new Set(held.map(([, kind]) => kind))).toEqual(new Set(holdKinds));
  });

  test.each(ofCodes)('a failure with $code reads its advice, pace and hold from its row', (row) => {
    const code = row.code === '200-299' ? 250 : row.code;
    const failure = new PlatformFailure('refused', { code, httpStatus: row.status });
    expect([failure.advice, failure.pace, holdKindOf(code)]).toEqual([row.advice, row.pace, row.holds]);
  });

  test('an unknown code is advised nothing', () => {
    const failure = new PlatformFailure('refused', { code: 999_999 });
    expect([failure.advice, failure.pace, holdKindOf(999_999)]).toEqual(['no', undefined, undefined]);
  });
});
