import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Campaign } from '../../../../lib/access/directory.ts';
import { sliceOf } from '../../../../lib/http/query.ts';
import {
  campaignsNamed,
  channelIdsOf,
  groupDocuments,
  selectTemplates,
  type TemplateFilters,
} from '../../../../lib/templates/listing/listing.ts';
import type { TemplateRow } from '../../../../lib/templates/model/row.ts';
import { makeChannel } from '../../../support/directory.ts';
import { makeRow, type Pair } from '../../../support/templates.ts';
import { thorough } from '../../../support/thorough.ts';

const names = ['order_update', 'order', 'welcome.offer', 'WELCOME', 'x'];
const languages = ['es', 'es_AR', 'en_US'];
const states = ['APPROVED', 'PENDING', 'NEW_STATUS'];
const categories = ['MARKETING', 'UTILITY'];
const scores = ['GREEN', 'RED'];
const campaigns: Campaign[] = [
  { campaignId: 10, clientId: 1001, name: 'Onboarding' },
  { campaignId: 11, clientId: 1001, name: 'Collections' },
  { campaignId: 12, clientId: 1001, name: 'Onboarding' },
];

/** Channel 599 and campaign 99 no longer exist. */
const anyPair = fc.tuple(fc.constantFrom(501, 502, 599), fc.constantFrom(10, 11, 12, 99)) as fc.Arbitrary<Pair>;
const stands = (pair: { channelId: number; campaignId: number }) => pair.channelId !== 599 && pair.campaignId !== 99;
const boundsOf = (scope?: readonly number[]) => ({
  stands,
  scope: scope === undefined ? undefined : new Set(scope),
});

const anyRow: fc.Arbitrary<TemplateRow> = fc
  .record({
    name: fc.constantFrom(...names),
    language: fc.constantFrom(...languages),
    status: fc.constantFrom(...states),
    category: fc.constantFrom(...categories),
    score: fc.option(fc.constantFrom(...scores)),
    platformId: fc.constantFrom('1', '2', '3'),
    active: fc.boolean(),
    deleted: fc.boolean(),
    isDirectMessage: fc.nat(9).map((n) => n === 0),
    pairs: fc.uniqueArray(anyPair, { maxLength: 3, selector: String }),
    wabaId: fc.constantFrom('1', '2'),
  })
  .map(({ score, ...row }) => makeRow(score === null ? row : { ...row, qualityScore: score }));

/** The filters have the contract's names. */
interface Asked {
  state?: string[];
  category?: string[];
  lang?: string[];
  quality?: string[];
  search?: string;
  name?: string;
  platformId?: string;
  active?: boolean;
  deleted?: boolean;
  channelIds?: string[];
  didChannelId?: number | null;
  campaignName?: string;
}

/** A client may write another letter case than the stored one (D16). */
const spelt = (value: string) => fc.constantFrom(value, value.toLowerCase(), value.toUpperCase());
const subset = (values: string[]) =>
  fc.subarray([...values, 'nothing has this'], { minLength: 1 }).chain((chosen) => fc.tuple(...chosen.map(spelt)));
const anyValues: fc.Arbitrary<Required<Asked>> = fc.record({
  state: subset(states),
  category: subset(categories),
  // A send takes these spellings too (D16).
  lang: subset([...languages, 'es-AR', 'en-us']),
  quality: subset(scores),
  search: fc.constantFrom('order', 'ORD', 'e', '.', 'zzz', '('),
  name: fc.constantFrom(...names),
  platformId: fc.constantFrom('1', '2'),
  active: fc.boolean(),
  deleted: fc.boolean(),
  channelIds: fc.constantFrom(['501'], ['501', '502'], ['599'], ['abc']),
  didChannelId: fc.constantFrom(501, 502, null),
  campaignName: fc.constantFrom('Onboarding', 'Collections', 'Unassigned', 'Unassigned', 'onboarding'),
});

const filterNames =
  'state category lang quality search name platformId active deleted channelIds didChannelId campaignName'.split(
    ' ',
  ) as (keyof Asked)[];

/** More than four filters would match almost nothing. */
const anyAsked: fc.Arbitrary<Asked> = fc
  .tuple(anyValues, fc.subarray(filterNames, { maxLength: 4 }))
  .map(([values, given]) => Object.fromEntries(given.map((name) => [name, values[name]])));

const anyScope = fc.option(fc.subarray([10, 11, 12], { minLength: 1 }), { nil: undefined });

function filtersFor(asked: Asked): TemplateFilters {
  return {
    states: asked.state,
    categories: asked.category,
    languages: asked.lang,
    qualityScores: asked.quality,
    search: asked.search,
    name: asked.name,
    platformId: asked.platformId,
    active: asked.active,
    deleted: asked.deleted,
    documents: {
      channelIds: asked.channelIds,
      didChannelId: asked.didChannelId,
      campaign: asked.campaignName === undefined ? undefined : campaignsNamed(asked.campaignName, campaigns),
    },
  };
}

const isAmong = (values: string[] | undefined, value: string) =>
  values === undefined || values.some((each) => each.toUpperCase() === value.toUpperCase());

/** The reference filters one flat record for each document, one by one, and then makes one entry for each template. */
function naive(rows: TemplateRow[], asked: Asked, scope: number[] | undefined): Map<string, string[]> {
  const shown = new Map<string, string[]>();
  for (const row of rows) {
    if (row.isDirectMessage) continue;
    if (asked.deleted === true ? !row.deleted : row.deleted) continue;
    if (asked.active !== undefined && asked.active !== row.active) continue;
    if (!isAmong(asked.state, row.status) || !isAmong(asked.category, row.category)) continue;
    const languagesAsked = asked.lang?.map((each) => each.replace('-', '_'));
    if (!isAmong(languagesAsked, row.language) || !isAmong(asked.quality, row.qualityScore ?? '')) continue;
    if (asked.search && row.name.toUpperCase().indexOf(asked.search.toUpperCase()) < 0) continue;
    if (asked.name && row.name !== asked.name) continue;
    if (asked.platformId && row.platformId !== asked.platformId) continue;
    const isOrphan = ({ pair }: TemplateRow['documents'][number]) => pair?.channelId === 599 || pair?.campaignId === 99;
    const left = row.documents.filter((document) => !isOrphan(document));
    const counting = left.length > 0 ? left : row.documents.slice(0, 1).map(({ id }) => ({ id, pair: undefined }));
    const records = counting.map(({ id, pair }) => ({
      id,
      channel: pair?.channelId,
      campaign: pair?.campaignId,
      campaignName: pair === undefined ? 'Unassigned' : campaigns.find((c) => c.campaignId === pair.campaignId)?.name,
    }));
    const visible = records.filter(({ campaign }) => {
      if (scope === undefined) return true;
      return campaign === undefined ? asked.campaignName === 'Unassigned' : scope.includes(campaign);
    });
    const hit = visible.filter(
      (record) =>
        (asked.campaignName === undefined || record.campaignName === asked.campaignName) &&
        (asked.channelIds === undefined || asked.channelIds.includes(`${record.channel}`)) &&
        (asked.didChannelId === undefined || record.channel === asked.didChannelId),
    );
    if (hit.length > 0)
      shown.set(
        `${row.templateKey}`,
        visible.map(({ id }) => id),
      );
  }
  return shown;
}

const uniqueRows = fc.uniqueArray(anyRow, { maxLength: 30, selector: (row) => row.templateKey });

test('any combination of filters and scope shows what the naive filter shows (R29)', () => {
  fc.assert(
    fc.property(uniqueRows, anyAsked, anyScope, (rows, asked, scope) => {
      const selected = selectTemplates(rows, filtersFor(asked), boundsOf(scope));
      const shown = new Map(selected.map(({ row, documents }) => [row.templateKey, documents.map(({ id }) => id)]));
      expect(shown).toEqual(naive(rows, asked, scope));
      expect(selected).toHaveLength(shown.size);
    }),
    { numRuns: thorough ? 2_000 : 400 },
  );
});

test('pages of any size put together are the whole, ordered by name, language and id (R29)', () => {
  fc.assert(
    fc.property(uniqueRows, fc.integer({ min: 1, max: 7 }), (rows, size) => {
      const selected = selectTemplates(rows, filtersFor({}), boundsOf());
      const pages = Array.from({ length: Math.ceil(selected.length / size) + 1 }, (_, index) =>
        sliceOf(selected, { page: index + 1, size }),
      );
      expect(pages.flat()).toEqual(selected);
      expect(pages.at(-1)).toEqual([]);
      const keys = selected.map(({ row, id }) => [row.name, row.language, id]);
      expect(keys).toEqual(
        keys.toSorted((a, b) => {
          const index = a.findIndex((text, position) => text !== b[position]);
          return index < 0 ? 0 : (a[index] ?? '') < (b[index] ?? '') ? -1 : 1;
        }),
      );
    }),
  );
});

test.each([
  ['the oldest, also when its channel is gone', [599, 10], 0],
  ['the oldest outside foreign campaigns', [501, 11], 1],
  ['the oldest when its foreign campaign is gone', [501, 99], 0],
] as const)('the listed id is that of %s (D12, D15)', (_, oldest, listedAt) => {
  const row = makeRow({ pairs: [[...oldest], [501, 10]] });
  const [listed] = selectTemplates([row], filtersFor({}), boundsOf([10]));
  expect(listed?.id).toBe(row.documents[listedAt]?.id);
  expect(listed?.documents).toEqual([row.documents[1]]);
  const [toAll] = selectTemplates([row], filtersFor({}), boundsOf());
  expect(toAll?.id).toBe(row.documents[0]?.id);
});

test('groups: by campaign and channel ascending, without placeholder, missing campaigns and missing channels', () => {
  const { documents } = makeRow({
    pairs: [
      [502, 11],
      [501, 11],
      [501, 10],
      [999, 10],
      [501, 77],
    ],
  });
  const channels = [
    makeChannel({ channelId: 502, did: '5491100000002', name: '' }),
    makeChannel({ channelId: 501, did: '5491100000001', name: 'Main line' }),
  ];
  const first = { channel_id: 501, name: 'Main line', did: '5491100000001', type: 'MESSAGING' };
  const second = { channel_id: 502, did: '5491100000002', type: 'MESSAGING' };
  expect(groupDocuments(documents, campaigns.toReversed(), channels)).toEqual([
    { campaign_id: 10, campaign_name: 'Onboarding', channels: [first] },
    { campaign_id: 11, campaign_name: 'Collections', channels: [first, second] },
  ]);
  expect(groupDocuments(makeRow().documents, campaigns, channels)).toEqual([]);
});

test('the channels of a page are asked for once each', () => {
  const { documents } = makeRow({
    pairs: [
      [501, 10],
      [501, 11],
      [502, 10],
    ],
  });
  expect(channelIdsOf(documents)).toEqual([501, 502]);
  expect(channelIdsOf(makeRow().documents)).toEqual([]);
});
