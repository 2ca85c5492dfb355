import { expect, expectTypeOf, test } from 'vitest';
import { omitUndefined } from '../../../lib/keys/omit-undefined.ts';

test('drops the keys whose value is undefined, and nothing else', () => {
  const absent: string | undefined = undefined;
  const facts = omitUndefined({ absent, none: null, no: false, zero: 0, empty: '', list: [undefined] });
  expect(Object.entries(facts)).toEqual([
    ['none', null],
    ['no', false],
    ['zero', 0],
    ['empty', ''],
    ['list', [undefined]],
  ]);
});

test('a key that may be undefined becomes optional, any other stays', () => {
  const given = { to: 'a', code: undefined } as { readonly to: string; readonly code: string | undefined };
  const facts = omitUndefined(given);
  expectTypeOf(facts.to).toEqualTypeOf<string>();
  expectTypeOf(facts).toExtend<{ to: string; code?: string }>();
  expectTypeOf<{ to: string }>().toExtend<typeof facts>();
  expect(facts).toEqual({ to: 'a' });
});
