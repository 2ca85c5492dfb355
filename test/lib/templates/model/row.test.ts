import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rowPartition, rowPartitions } from '../../../../lib/templates/model/items.ts';
import {
  encodeDocuments,
  newRowAttributes,
  rowFromItem,
  upstreamRowAttributes,
} from '../../../../lib/templates/model/row.ts';
import { documentId, templateKey } from '../../../../lib/templates/model/template-key.ts';
import { makeTemplate } from '../../../support/templates.ts';

type Attributes = Readonly<Record<string, string | number | boolean>>;

/**
 * Counts as DynamoDB does: UTF-8 names and text, a byte for two digits of a number and one more, and one for a boolean.
 */
function itemBytes(item: Attributes): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(item)) {
    bytes += Buffer.byteLength(name);
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (typeof value === 'number') bytes += Math.ceil(String(value).replace(/0+$/, '').length / 2) + 1;
    else bytes += 1;
  }
  return bytes;
}

function storedRow(template = makeTemplate(), own: Partial<Attributes> = {}): Attributes {
  const wabaId = '200000000000001';
  const key = templateKey({ ...template, wabaId });
  const place = { pk: rowPartition(1001, key), sk: key };
  return { ...place, ...newRowAttributes, ...upstreamRowAttributes(wabaId, template).set, ...own } as Attributes;
}

test('a typical row takes at most 170 bytes; this one far less', () => {
  const template = makeTemplate({ name: 'a_name_of_20_letters', quality_score: { score: 'GREEN' } });
  const row = storedRow(template, { d: encodeDocuments([{ sequence: 0, pair: { channelId: 501, campaignId: 10 } }]) });
  expect(template.name).toHaveLength(20);
  expect(itemBytes(row)).toBeLessThanOrEqual(115);
});

test('a new row is active, with the placeholder as its only document', () => {
  const row = rowFromItem(storedRow());
  const key = row.templateKey;
  expect(row).toMatchObject({
    clientId: 1001,
    wabaId: '200000000000001',
    name: 'order_update',
    language: 'en_US',
    active: true,
    deleted: false,
    isDirectMessage: false,
    nextSequence: 1,
  });
  expect(row.documents).toEqual([{ id: documentId({ templateKey: key, clientId: 1001, sequence: 0 }) }]);
  expect(row).not.toMatchObject({ qualityScore: expect.anything() });
});

test('one that the platform has generated is a direct-message template, for as long as the platform says so', () => {
  const attributes = (source?: string) =>
    upstreamRowAttributes('200000000000001', makeTemplate(source === undefined ? {} : { source }));
  expect(rowFromItem(storedRow(makeTemplate({ source: 'AUTO_GENERATED' }))).isDirectMessage).toBe(true);
  expect(attributes('AUTO_GENERATED').remove).not.toContain('m');
  for (const source of ['MANUAL', undefined]) {
    expect(rowFromItem(storedRow(makeTemplate(source === undefined ? {} : { source }))).isDirectMessage).toBe(false);
    expect(attributes(source).remove).toContain('m');
  }
});

test('what a row takes from the platform comes back as it was, unknown values too', () => {
  const word = fc.oneof(
    fc.constantFrom('APPROVED', 'MARKETING', 'GREEN', 'UNKNOWN', 'A', '=A', 'FLAGGED'),
    fc.string({ minLength: 1 }),
  );
  const id = fc.oneof(fc.stringMatching(/^\d{1,20}$/), fc.constantFrom('9007199254740993', '007', 'x'));
  fc.assert(
    fc.property(
      fc.record({ name: fc.string(), language: fc.string(), status: word, category: word, id, score: word }),
      (facts) => {
        const { score, ...rest } = facts;
        const row = rowFromItem(storedRow(makeTemplate({ ...rest, quality_score: { score } })));
        expect(row).toMatchObject({
          name: facts.name,
          language: facts.language,
          status: facts.status,
          category: facts.category,
          platformId: facts.id,
          qualityScore: score,
          deleted: facts.status === 'DELETED',
        });
      },
    ),
  );
});

test('documents come back in order, with their pairs', () => {
  const number = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
  const pair = fc.option(fc.record({ channelId: number, campaignId: number }), { nil: undefined });
  fc.assert(
    fc.property(fc.array(fc.record({ sequence: fc.nat(), pair }), { minLength: 1 }), (documents) => {
      const written = documents.map(({ sequence, pair: of }) =>
        of === undefined ? { sequence } : { sequence, pair: of },
      );
      const row = rowFromItem(storedRow(makeTemplate(), { d: encodeDocuments(written) }));
      expect(row.documents).toEqual(
        written.map(({ sequence, ...rest }) => ({
          id: documentId({ templateKey: row.templateKey, clientId: 1001, sequence }),
          ...rest,
        })),
      );
    }),
  );
});

test('the platform never writes an attribute of the client', () => {
  const { set, remove } = upstreamRowAttributes('1', makeTemplate());
  for (const own of ['a', 'd', 'k', 'pk', 'sk']) expect([...Object.keys(set), ...remove]).not.toContain(own);
  expect(remove.toSorted()).toEqual(['g', 'm', 'q']);
});

test('rows spread over all partitions of their client', () => {
  const used = new Map<string, number>();
  for (let index = 0; index < 4_000; index++) {
    const partition = rowPartition(7, templateKey({ wabaId: '1', name: `t${index}`, language: 'es' }));
    used.set(partition, (used.get(partition) ?? 0) + 1);
  }
  expect([...used.keys()].toSorted()).toEqual(rowPartitions(7));
  for (const count of used.values()) expect(count).toBeGreaterThan(800);
});

test('an item that is no row is refused', () => {
  expect(() => rowFromItem({ ...storedRow(), s: 'Z' })).toThrow('unknown code');
  expect(() => rowFromItem({ ...storedRow(), h: undefined })).toThrow();
});
