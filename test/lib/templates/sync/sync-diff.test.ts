import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentHash } from '../../../../lib/templates/model/fact.ts';
import type { TemplateRow } from '../../../../lib/templates/model/row.ts';
import type { PlatformTemplate } from '../../../../lib/templates/model/template.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';
import {
  changesOfGone,
  compareWithPage,
  eventsOfChange,
  keysOfPage,
  knownRows,
} from '../../../../lib/templates/sync/sync-diff.ts';
import { makeRow, makeTemplate } from '../../../support/templates.ts';

const wabaId = '200000000000001';
const waba = { wabaId, clientIds: [1001, 1002] };
const template = makeTemplate();
const key = templateKey({ ...template, wabaId });
const rowOf = (clientId: number, of: PlatformTemplate = template, deleted = false) =>
  makeRow({ clientId, wabaId, contentHash: contentHash(of), status: of.status, category: of.category, deleted });
const both = [rowOf(1001), rowOf(1002)];
const changesOfPage = (...given: Parameters<typeof compareWithPage>) => compareWithPage(...given).changes;
/** The stored fact of a row that was written at a time. */
const factOf = (row: TemplateRow | undefined, sinceMs = 1) =>
  row && {
    wabaId,
    template: makeTemplate({ status: row.status, category: row.category }),
    deleted: row.deleted,
    readAtMs: 4,
    sinceMs,
  };
const pageOf = (...templates: PlatformTemplate[]) => ({ templates, unreadable: [] });

test.each([
  ['unknown', [], template, 'created'],
  ['equal for both clients', both, template, undefined],
  ['other facts', both, makeTemplate({ status: 'PAUSED' }), 'updated'],
  ['one client has no row', [rowOf(1001)], template, 'updated'],
  ['one client has old facts', [rowOf(1001), rowOf(1002, makeTemplate({ status: 'PENDING' }))], template, 'updated'],
  ['there again after it was gone', [rowOf(1001, template, true), rowOf(1002, template, true)], template, 'updated'],
  ['listed as deleted', both, makeTemplate({ status: 'DELETED' }), 'deleted'],
  [
    'still listed as deleted',
    [rowOf(1001, makeTemplate({ status: 'DELETED' }), true), rowOf(1002, makeTemplate({ status: 'DELETED' }), true)],
    makeTemplate({ status: 'DELETED' }),
    undefined,
  ],
  ['rows of another WABA', both.map((row) => ({ ...row, wabaId: '2' })), template, 'created'],
])('%s', (_, rows, upstream, kind) => {
  const changes = changesOfPage(waba, knownRows(wabaId, rows), { page: pageOf(upstream), readAtMs: 5 });
  expect(changes.map((change) => change.kind)).toEqual(kind === undefined ? [] : [kind]);
  for (const { write } of changes) {
    expect(write).toEqual({ kind: 'present', wabaId, template: upstream, clientIds: [1001, 1002], readAtMs: 5 });
  }
});

const changed = (status: string, previous: string) => `template.status_changed ${status} was ${previous}`;

test.each<[string, TemplateRow[], PlatformTemplate, string[]]>([
  ['new upstream', [], template, []],
  ['another status', both, makeTemplate({ status: 'PAUSED' }), Array(2).fill(changed('PAUSED', 'APPROVED'))],
  ['another category', both, makeTemplate({ category: 'MARKETING' }), Array(2).fill(changed('APPROVED', 'APPROVED'))],
  ['other components only', both, makeTemplate({ components: [] }), []],
  [
    'each client by its own row',
    [rowOf(1001), rowOf(1002, makeTemplate({ status: 'PENDING' }))],
    template,
    [changed('APPROVED', 'PENDING')],
  ],
  ['a client that has joined', [rowOf(1001)], template, []],
  ['there again after it was gone', [rowOf(1001, makeTemplate({ status: 'PAUSED' }), true)], template, []],
  ['listed as deleted', both, makeTemplate({ status: 'DELETED' }), ['template.deleted', 'template.deleted']],
])('events of %s', (_, rows, upstream, expected) => {
  const changes = changesOfPage(waba, knownRows(wabaId, rows), { page: pageOf(upstream), readAtMs: 5 });
  const events = changes.flatMap((change) => eventsOfChange(change, factOf(rows.at(-1)), 7));
  expect(
    events.map(({ type, data }) =>
      'previous_status' in data ? `${type} ${data.status} was ${data.previous_status}` : type,
    ),
  ).toEqual(expected);
});

test('the same change is the same event whoever tells it and when, another one once the status has come and gone', () => {
  const page = pageOf(makeTemplate({ status: 'PAUSED' }));
  const ids = [1, 1, 2].map((sinceMs, nowMs) =>
    changesOfPage(waba, knownRows(wabaId, both), { page, readAtMs: 5 })
      .flatMap((change) => eventsOfChange(change, factOf(both[0], sinceMs), nowMs))
      .map(({ id }) => id),
  );
  expect(ids[0]).toEqual(ids[1]);
  expect(new Set(ids.flat()).size).toBe(4);
});

test('what somebody else has stored since the rows were read has been told', () => {
  const paused = makeTemplate({ status: 'PAUSED' });
  const changes = changesOfPage(waba, knownRows(wabaId, both), { page: pageOf(paused), readAtMs: 5 });
  expect(changes.map(({ kind }) => kind)).toEqual(['updated']);
  expect(changes.flatMap((change) => eventsOfChange(change, factOf(rowOf(1001, paused)), 7))).toEqual([]);
});

test('a template listed twice is written once, with the later reading', () => {
  const known = knownRows(wabaId, both);
  const page = pageOf(makeTemplate({ status: 'PAUSED' }), makeTemplate({ status: 'DISABLED' }));
  const changes = changesOfPage(waba, known, { page, readAtMs: 5 });
  expect(changes.map(({ write }) => write.kind === 'present' && write.template.status)).toEqual(['DISABLED']);
  const back = pageOf(makeTemplate({ status: 'PAUSED' }), template);
  expect(changesOfPage(waba, known, { page: back, readAtMs: 5 })).toEqual([]);
});

test('gone: stored, not deleted yet, and not listed; only for the clients that have it', () => {
  const other = makeRow({ clientId: 1002, wabaId, name: 'other' });
  const known = knownRows(wabaId, [...both, other, makeRow({ wabaId, name: 'long_gone', deleted: true })]);
  const changes = changesOfGone(known, new Set([key]), 9);
  expect(changes.map((change) => change.write)).toEqual([
    { kind: 'gone', templateKey: other.templateKey, clientIds: [1002], readAtMs: 9 },
  ]);
  expect(changes.flatMap((change) => eventsOfChange(change, factOf(other), 9))).toMatchObject([
    { type: 'template.deleted', clientId: 1002, data: { name: 'other', template_id: other.documents[0]?.id } },
  ]);
});

test('a template that cannot be read is there all the same; one without name is unknown', () => {
  const unreadable = [{ name: 'odd', language: 'es' }, { name: 'odd' }];
  expect(keysOfPage(wabaId, { templates: [template], unreadable })).toEqual([
    key,
    templateKey({ wabaId, name: 'odd', language: 'es' }),
    undefined,
  ]);
});

/** Nested so deep that recursion runs out of stack. */
function nested(levels: number): Record<string, unknown> {
  let value: Record<string, unknown> = {};
  for (let level = 0; level < levels; level += 1) value = { of: value };
  return value;
}
const neighbour = makeTemplate({ id: '2', name: 'neighbour' });

test.each<[string, Partial<PlatformTemplate>, string]>([
  ['nested 3,000 levels deep', { optimization_spec: nested(3_000) }, 'too_deep'],
  ['nested 200,000 levels deep', { optimization_spec: nested(200_000) }, 'too_deep'],
  ['of 600 KB that do not pack', { flow: randomBytes(450_000).toString('base64') }, 'too_large'],
  ['of 3 MB that pack well', { components: [{ type: 'BODY', text: 'a'.repeat(3_000_000) }] }, 'too_large'],
  ['with a name of 5,000 characters', { name: 'n'.repeat(5_000) }, 'too_large'],
  ['with a status that is no text', { status: '\ud800' }, 'unreadable'],
])('a template %s is skipped, its neighbour is not', (_, more, reason) => {
  const odd = makeTemplate({ id: '1', ...more });
  const diff = compareWithPage(waba, knownRows(wabaId, both), { page: pageOf(odd, neighbour), readAtMs: 5 });
  expect(diff.skipped).toEqual([{ platformId: '1', reason }]);
  expect(diff.changes.map(({ write }) => write.kind === 'present' && write.template.name)).toEqual(['neighbour']);
});

test('what has no readable form is skipped too; what is large and stored is compared as ever', () => {
  const large = makeTemplate({ flow: randomBytes(450_000).toString('base64') });
  const page = { templates: [large], unreadable: [{ id: '7', name: 'odd' }, {}] };
  const known = knownRows(wabaId, [rowOf(1001, large), rowOf(1002, large)]);
  expect(compareWithPage(waba, known, { page, readAtMs: 5 })).toEqual({
    changes: [],
    skipped: [
      { platformId: '7', reason: 'unreadable' },
      { platformId: undefined, reason: 'unreadable' },
    ],
  });
});

test('a template listed twice, the second time too deep: the first reading is not written either', () => {
  const page = pageOf(makeTemplate({ status: 'PAUSED' }), makeTemplate({ optimization_spec: nested(65) }));
  expect(compareWithPage(waba, knownRows(wabaId, both), { page, readAtMs: 5 })).toMatchObject({
    changes: [],
    skipped: [{ reason: 'too_deep' }],
  });
});
