import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RowLookup } from '../../../../lib/templates/model/document.ts';
import type { TemplateRow } from '../../../../lib/templates/model/row.ts';
import { documentId } from '../../../../lib/templates/model/template-key.ts';
import {
  type Assignable,
  allForeign,
  examineItems,
  planStatus,
  type StatusAccess,
  type StatusItem,
  statusItems,
  summaryOf,
  switchedTemplates,
} from '../../../../lib/templates/status/bulk-status.ts';
import { refused } from '../../../support/refused.ts';
import { rows } from '../../../support/rows.ts';
import { makeRow } from '../../../support/templates.ts';

const supervisor: StatusAccess = {
  caller: { clientId: 1001, crossClient: false },
  askedId: undefined,
  campaignIds: new Set([10, 11]),
};
const operator: StatusAccess = {
  caller: { clientId: 1, crossClient: true },
  askedId: undefined,
  campaignIds: undefined,
};
/** Channels 501 and 502 and campaigns 10 to 12 exist for every client; 599 and 99 do not. */
const assignable: Assignable = {
  hasChannel: (_, channelId) => channelId < 599,
  hasCampaign: (_, campaignId) => campaignId < 99,
};
const lookupOf =
  (...rows: TemplateRow[]): RowLookup =>
  (name) =>
    rows.find((row) => row.clientId === name.clientId && row.templateKey === name.templateKey);
const firstId = (row: TemplateRow) => row.documents[0]?.id ?? '';
const plan = (items: readonly StatusItem[], rows: readonly TemplateRow[], access = supervisor) =>
  planStatus(examineItems(items), { rows: lookupOf(...rows), assignable }, access);
const outcome = (action: 'enable' | 'disable', row: TemplateRow, access = supervisor, id = firstId(row)) => {
  const [result] = plan([{ id, action }], [row], access).results;
  return result?.success ? 'success' : result?.reason;
};

const assignedRow = (overrides: Parameters<typeof makeRow>[0] = {}) => makeRow({ pairs: [[501, 10]], ...overrides });

const pairsIn = (text: string) =>
  text
    .split(' ')
    .filter(Boolean)
    .map((pair) => pair.split(':').map(Number) as [number, number]);

describe('one item (D17)', () => {
  // Pairs are of channel and campaign, the first of them names the template; campaign 12 is of others. An assignment with
  // a deleted channel (599) or campaign (99) counts as the placeholder, which every caller may see (D15).
  test.each(rows`
    disable | 501:10         |             | success
    enable  | 501:10         | off         | success
    disable |                |             | success
    disable | 501:10         | PAUSED      | success
    disable | 501:12         |             | forbidden
    disable | 501:11 501:12  |             | success
    disable | 501:12 501:11  |             | forbidden
    disable | 599:12 501:11  |             | success
    disable | 501:12 599:11  |             | forbidden
    disable | 501:99         |             | success
    disable | 599:12         |             | success
    enable  | 501:99         | off         | campaign_unassigned
    enable  | 599:12         | off         | channel_unassigned
    enable  | 599:99         | off         | channel_unassigned
    enable  | 599:10 501:99  | off         | campaign_unassigned
    enable  | 599:10         | off         | channel_unassigned
    enable  | 599:10 501:11  | off         | success
    enable  |                | off         | channel_unassigned
    disable | 501:10         | deleted     | not_found
    disable | 501:12         | deleted     | not_found
    disable | 501:10         | off         | already_disabled
    disable | 501:12         | off         | forbidden
    enable  | 501:10         |             | already_enabled
    enable  |                | PENDING     | already_enabled
    enable  | 501:10         | off PENDING | template_not_approved
    enable  | 501:10         | off NEW     | template_not_approved
    enable  |                | off PENDING | template_not_approved
  `)('%s of [%s] %s: %s', (action, pairs = '', marks = '', expected) => {
    const status = marks.split(' ').find((mark) => /^[A-Z]+$/.test(mark)) ?? 'APPROVED';
    const facts = { status, active: !marks.includes('off'), deleted: marks.includes('deleted') };
    const row = makeRow({ pairs: pairsIn(pairs), ...facts });
    expect(outcome(action as 'enable' | 'disable', row)).toBe(expected);
    if (expected.endsWith('_unassigned')) expect(outcome('enable', row, operator)).toBe(expected);
  });

  test.each(['', 'x', `${firstId(makeRow())}0`, firstId(makeRow()).toUpperCase(), '6a1f0c2e9d3b4a5f6e7d8c9b'])(
    'the id %j is not_found',
    (id) => {
      expect(outcome('disable', makeRow(), supervisor, id)).toBe('not_found');
    },
  );

  test('an id of this template that no document has is not_found', () => {
    const row = assignedRow();
    expect(outcome('disable', row, supervisor, documentId({ ...row, sequence: 7 }))).toBe('not_found');
  });
});

describe('whose template it is', () => {
  const [own, theirs] = [assignedRow(), assignedRow({ clientId: 1002 })];

  test('another client’s is forbidden, also on a shared WABA; one that does not exist is not_found', () => {
    const items = [firstId(own), firstId(theirs), documentId({ ...theirs, sequence: 9 })].map((id) => ({
      id,
      action: 'disable' as const,
    }));
    const { results, changes } = plan(items, [own, theirs]);
    expect(results.map(({ reason }) => reason)).toEqual([undefined, 'forbidden', 'not_found']);
    expect(changes.map(({ row }) => row)).toEqual([own]);
  });

  test.each([
    [undefined, [undefined, undefined], [own, theirs]],
    [1001, [undefined, 'forbidden'], [own]],
    [1003, ['forbidden', 'forbidden'], []],
  ] as const)(
    'BSP_CN with client_id %s tells the flag of the id that it names, or forbidden',
    (askedId, told, switched) => {
      const items = [own, theirs].map((row) => ({ id: firstId(row), action: 'disable' as const }));
      const { results, changes } = plan(items, [own, theirs], { ...operator, askedId });
      expect(results.map(({ reason }) => reason)).toEqual(told);
      expect(changes.map(({ row }) => row)).toEqual(switched);
    },
  );

  test.each([
    ['only foreign ones', [theirs], supervisor, true],
    ['one own among them', [theirs, own], supervisor, false],
    ['with BSP_CN', [theirs], operator, false],
    ['with BSP_CN for another client', [theirs], { ...operator, askedId: 1001 }, false],
  ] as const)('%s: the whole request is refused: %s', (_, rows, access, expected) => {
    const items = examineItems(rows.map((row) => ({ id: firstId(row), action: 'disable' })));
    expect(allForeign(items, lookupOf(own, theirs), access)).toBe(expected);
    const unknown = examineItems([{ id: documentId({ ...theirs, sequence: 9 }), action: 'disable' }]);
    expect(allForeign([...items, ...unknown], lookupOf(own, theirs), access)).toBe(false);
  });
});

describe('repetitions', () => {
  const row = assignedRow({
    pairs: [
      [501, 10],
      [501, 11],
    ],
  });
  const [first, second] = row.documents.map(({ id }) => id) as [string, string];
  const reasons = (...items: [string, 'enable' | 'disable'][]) =>
    plan(
      items.map(([id, action]) => ({ id, action })),
      [row],
    ).results.map(({ success, skipped, reason }) => [success, skipped, reason]);
  const conflict = [false, true, 'conflicting_action'];

  test('the same action: the first is processed, the others skipped', () => {
    expect(reasons([first, 'disable'], [first, 'disable'], [first, 'disable'])).toEqual([
      [true, false, undefined],
      [false, true, 'duplicate_request'],
      [false, true, 'duplicate_request'],
    ]);
  });

  test('different actions: none is processed, whatever else would be said of the id', () => {
    expect(reasons([first, 'disable'], [first, 'enable'], [first, 'disable'])).toEqual([conflict, conflict, conflict]);
    expect(reasons(['x', 'disable'], ['x', 'enable'])).toEqual([conflict, conflict]);
  });

  test('two ids of one template share the flag, so they are repetitions of each other', () => {
    expect(reasons([first, 'disable'], [second, 'disable'])).toEqual([
      [true, false, undefined],
      [false, true, 'duplicate_request'],
    ]);
    const items = [
      { id: first, action: 'disable' as const },
      { id: second, action: 'enable' as const },
    ];
    const { results, changes } = plan(items, [row]);
    expect(results.map(({ success, skipped, reason }) => [success, skipped, reason])).toEqual([conflict, conflict]);
    expect(changes).toEqual([]);
  });

  test('another client’s id of the template is forbidden and contradicts nothing', () => {
    const theirs = makeRow({ clientId: 1002 });
    const items = [
      { id: first, action: 'disable' as const },
      { id: firstId(theirs), action: 'enable' as const },
    ];
    const { results } = plan(items, [row, theirs], { ...operator, askedId: 1001 });
    expect(results.map(({ reason }) => reason)).toEqual([undefined, 'forbidden']);
  });

  test('equal ids come first, then what cannot be touched: neither blocks another id of the template', () => {
    expect(reasons([first, 'disable'], [first, 'enable'], [second, 'disable'])).toEqual([
      conflict,
      conflict,
      [true, false, undefined],
    ]);
    const gone = documentId({ ...row, sequence: 9 });
    expect(reasons([gone, 'enable'], [second, 'disable'], [gone, 'enable'])).toEqual([
      [false, false, 'not_found'],
      [true, false, undefined],
      [false, true, 'duplicate_request'],
    ]);
  });
});

describe('the request', () => {
  test('an item’s own action overrides the request’s', () => {
    expect(statusItems(['a', { id: 'b' }, { id: 'c', action: 'enable' }], 'disable')).toEqual([
      { id: 'a', action: 'disable' },
      { id: 'b', action: 'disable' },
      { id: 'c', action: 'enable' },
    ]);
  });

  test('every item that is left without an action is named', () => {
    const refusal = refused(() => statusItems(['a', { id: 'b', action: 'enable' }, { id: 'c' }], undefined));
    expect(refusal).toMatchObject({ status: 400, message: 'templates[0] has no action' });
    expect(refusal.details.errors?.map(({ path }) => path)).toEqual(['templates[0]', 'templates[2]']);
  });
});

test('any request: results in its order, a sound summary, one change a row, and what success says is what is written', () => {
  const rows = Array.from({ length: 4 }, (_, index) =>
    assignedRow({
      name: `t_${index}`,
      active: index % 2 === 0,
      pairs: [
        [501, 10],
        [501, 12],
      ],
    }),
  );
  const activeBefore = new Map(rows.flatMap((row) => row.documents.map(({ id }) => [id, row.active])));
  const anyId = fc.constantFrom(...rows.flatMap(({ documents }) => documents.map(({ id }) => id)), 'nothing');
  const anyItem = fc.record({ id: anyId, action: fc.constantFrom('enable' as const, 'disable' as const) });
  fc.assert(
    fc.property(fc.array(anyItem, { minLength: 1, maxLength: 12 }), (items) => {
      const { results, changes } = plan(items, rows);
      expect(results.map(({ id, action }) => ({ id, action }))).toEqual(items);
      const { total, succeeded, skipped, failed } = summaryOf(results);
      expect([total, succeeded + skipped + failed]).toEqual([items.length, items.length]);
      expect(new Set(changes.map(({ row }) => row)).size).toBe(changes.length);
      for (const result of results) {
        expect(result.success).toBe(result.reason === undefined);
        expect(result.previous_active).toBe(result.success ? activeBefore.get(result.id) : undefined);
        expect(result.success && result.skipped).toBe(false);
      }
      for (const { row, active } of changes) {
        const ids = row.documents.map(({ id }) => id);
        const succeeded = results.filter(({ id, success }) => success && ids.includes(id));
        expect(succeeded.map((result) => result.current_active)).toEqual([active]);
      }
    }),
  );
});

describe('what was switched, for the audit', () => {
  const of = (clientId: number, sequence = 0) => documentId({ templateKey: 'abcdefghijklmnop', clientId, sequence });
  const result = (id: string, action: 'enable' | 'disable', success = true) => ({
    id,
    action,
    success,
    skipped: false,
  });
  const results = [
    result(of(1001), 'enable'),
    result(of(1002), 'enable'),
    result(of(1001, 1), 'disable'),
    result(of(1001, 2), 'enable'),
    result(of(1001, 3), 'enable', false),
    result('no id', 'enable', false),
  ];

  test('stands by client and action, and has nothing that was refused', () => {
    expect(switchedTemplates(results)).toEqual([
      { clientId: 1001, action: 'enable', documentIds: [of(1001), of(1001, 2)] },
      { clientId: 1002, action: 'enable', documentIds: [of(1002)] },
      { clientId: 1001, action: 'disable', documentIds: [of(1001, 1)] },
    ]);
  });
});
