import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  contentHash,
  goneUpstream,
  isTooDeep,
  maxPackedBytes,
  maxTemplateLevels,
  packTemplate,
  unpackTemplate,
  unstorableReason,
} from '../../../../lib/templates/model/stored-fact.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { makeTemplate } from '../../../support/templates.ts';

function reversedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversedKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reversedKeys(item)]),
  );
}

test('the hash does not depend on the order of keys', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (extra) => {
      const template = makeTemplate({ optimization_spec: extra });
      expect(contentHash(reversedKeys(template) as PlatformTemplate)).toBe(contentHash(template));
    }),
  );
});

test.each<[string, Partial<PlatformTemplate>]>([
  ['status', { status: 'PAUSED' }],
  ['category', { category: 'MARKETING' }],
  ['platform id', { id: '2' }],
  ['quality', { quality_score: { score: 'RED' } }],
  ['rejected reason', { rejected_reason: 'SCAM' }],
  ['text', { components: [{ type: 'BODY', text: 'other' }] }],
  ['a new field', { novelty: true } as Partial<PlatformTemplate>],
])('a change of %s changes the hash', (_, change) => {
  expect(contentHash(makeTemplate(change))).not.toBe(contentHash(makeTemplate()));
});

test('the order of components and buttons counts', () => {
  const components = [
    { type: 'BODY', text: 'a' },
    { type: 'FOOTER', text: 'b' },
  ];
  expect(contentHash(makeTemplate({ components: components.toReversed() }))).not.toBe(
    contentHash(makeTemplate({ components })),
  );
});

test('a media URL with a new signature is the same media, another path is not', () => {
  const withMedia = (url: string) =>
    contentHash(makeTemplate({ components: [{ type: 'HEADER', format: 'IMAGE', example: { header_handle: [url] } }] }));
  expect(withMedia('https://media.example/a.png?oh=1&oe=2')).toBe(withMedia('https://media.example/a.png?oh=3&oe=4'));
  expect(withMedia('https://media.example/b.png?oh=1&oe=2')).not.toBe(withMedia('https://media.example/a.png?oh=1'));
});

test('a template survives packing, and 5 KB of text become less than one read unit', () => {
  const text = Array.from({ length: 640 }, (_, index) => `word${index * 7919}`)
    .join(' ')
    .slice(0, 5_000);
  const template = makeTemplate({ components: [{ type: 'BODY', text }] });
  const packed = packTemplate(template);
  expect(unpackTemplate(packed)).toEqual(template);
  expect(packed.byteLength).toBeLessThan(4_000);
});

test.each([
  ['DELETED', true],
  ['PENDING_DELETION', true],
  ['ARCHIVED', false],
  ['DISABLED', false],
  ['APPROVED', false],
])('listed as %s: gone is %s', (status, gone) => {
  expect(goneUpstream(makeTemplate({ status }))).toBe(gone);
});

test('what is nested to the limit is held, one level more is not (D18)', () => {
  const nested = (levels: number): PlatformTemplate => {
    let value: Record<string, unknown> = {};
    for (let level = 2; level < levels; level += 1) value = { of: [value][0] };
    return makeTemplate({ optimization_spec: value });
  };
  expect([isTooDeep(nested(maxTemplateLevels)), isTooDeep(nested(maxTemplateLevels + 1))]).toEqual([false, true]);
  expect(unstorableReason(nested(maxTemplateLevels))).toBeUndefined();
});

test('what is held at the limit of its size fits an item', () => {
  const ofBytes = (bytes: number) => makeTemplate({ flow: randomBytes(bytes).toString('base64') });
  const sizes = [100_000, 220_000, 225_000, 300_000, 600_000];
  for (const template of sizes.map(ofBytes)) {
    const packed = packTemplate(template).byteLength;
    expect(unstorableReason(template)).toBe(packed > maxPackedBytes ? 'too_large' : undefined);
  }
  expect(
    unstorableReason(makeTemplate({ components: [{ type: 'BODY', text: 'a'.repeat(1_500_000) }] })),
  ).toBeUndefined();
});
