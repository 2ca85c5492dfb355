import fc from 'fast-check';
import { expect, test } from 'vitest';
import { documentId, parseDocumentId, templateKey } from '../../../../lib/templates/model/template-key.ts';

const wanted = { wabaId: '200000000000001', name: 'order_update', language: 'en_US' };

test('a key has 16 characters of base32 and depends on WABA, name and language', () => {
  const keys = [
    templateKey(wanted),
    templateKey({ ...wanted, wabaId: '200000000000002' }),
    templateKey({ ...wanted, name: 'order_updates' }),
    templateKey({ ...wanted, language: 'en_GB' }),
    templateKey({ wabaId: '20000000000000', name: '1order_update', language: 'en_US' }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of keys) expect(key).toMatch(/^[a-z2-7]{16}$/);
});

test('spellings of one language have one key', () => {
  expect(templateKey({ ...wanted, language: 'EN-us' })).toBe(templateKey(wanted));
});

test('the key is stored data: it must stay what it is', () => {
  expect(templateKey(wanted)).toMatchInlineSnapshot(`"phzokv5z2zpqwtcs"`);
});

test('a document id is read back as it was made', () => {
  const key = fc.stringMatching(/^[a-z2-7]{16}$/);
  const clientId = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const sequence = fc.integer({ min: 0, max: 1_000_000 });
  fc.assert(
    fc.property(fc.record({ templateKey: key, clientId, sequence }), (address) => {
      expect(parseDocumentId(documentId(address))).toEqual(address);
    }),
  );
});

test('whatever text is read as a document id is its only spelling', () => {
  const piece = fc.oneof(fc.string(), fc.stringMatching(/^[0a-z]{0,12}$/));
  const text = fc.tuple(fc.stringMatching(/^[a-z2-7]{15,17}$/), piece, piece).map((parts) => parts.join('-'));
  fc.assert(
    fc.property(fc.oneof(text, fc.string()), (id) => {
      const address = parseDocumentId(id);
      expect(address === undefined || documentId(address) === id).toBe(true);
    }),
  );
});

test.each([
  '',
  'sync-from-platform',
  'abc-1-0',
  'aaaaaaaaaaaaaaaa-0-0',
  'aaaaaaaaaaaaaaaa-rt-00',
  'aaaaaaaaaaaaaaaa-RT-0',
])('no document id: %s', (id) => {
  expect(parseDocumentId(id)).toBeUndefined();
});
