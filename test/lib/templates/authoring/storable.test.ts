import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { refuseUnstorable } from '../../../../lib/templates/authoring/storable.ts';
import { maxTemplateLevels } from '../../../../lib/templates/model/stored-fact.ts';

const draft = {
  name: 'order_update',
  language: 'en_US',
  category: 'UTILITY',
  components: [{ type: 'BODY', text: 'x' }],
};

function nested(levels: number): object {
  return Array.from({ length: levels - 1 }).reduce<object>((inner) => ({ a: inner }), {});
}

test('a template as deep as one can be compared is taken, and one level more is refused (D18)', () => {
  const spec = (levels: number) => ({ ...draft, optimization_spec: nested(levels) });
  expect(refuseUnstorable(spec(maxTemplateLevels - 1))).toBeUndefined();
  for (const levels of [maxTemplateLevels, 100_000]) {
    expect(() => refuseUnstorable(spec(levels))).toThrow(/at most 64 levels/);
  }
});

test('the field that is too large is named, with what it takes compressed (D18)', () => {
  const large = randomBytes(450_000).toString('base64');
  expect(() => refuseUnstorable({ ...draft, components: [{ type: 'BODY', text: large }] })).toThrow(
    /^components: .* at most 300000 bytes when compressed, received \d{6}$/,
  );
  expect(() => refuseUnstorable({ ...draft, optimization_spec: { overrides: [large] } })).toThrow(
    /^optimization_spec:/,
  );
  expect(refuseUnstorable({ ...draft, components: [{ type: 'BODY', text: 'a'.repeat(900_000) }] })).toBeUndefined();
});
