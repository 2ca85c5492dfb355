import { expect, test } from 'vitest';
import { contentHash } from '../../../lib/templates/fact.ts';
import { changesOfGone, changesOfPage, keysOfPage, knownRows } from '../../../lib/templates/sync-diff.ts';
import type { PlatformTemplate } from '../../../lib/templates/template.ts';
import { templateKey } from '../../../lib/templates/template-key.ts';
import { makeRow, makeTemplate } from '../../support/templates.ts';

const wabaId = '200000000000001';
const waba = { wabaId, clientIds: [1001, 1002] };
const template = makeTemplate();
const key = templateKey({ ...template, wabaId });
const rowOf = (clientId: number, of: PlatformTemplate = template, deleted = false) =>
  makeRow({ clientId, wabaId, contentHash: contentHash(of), status: of.status, category: of.category, deleted });
const both = [rowOf(1001), rowOf(1002)];
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

test('a change says what became of status and category', () => {
  const [change] = changesOfPage(waba, knownRows(wabaId, both), {
    page: pageOf(makeTemplate({ status: 'PAUSED', category: 'MARKETING' })),
    readAtMs: 5,
  });
  expect(change).toMatchObject({
    templateKey: key,
    status: { before: 'APPROVED', now: 'PAUSED' },
    category: { before: 'UTILITY', now: 'MARKETING' },
  });
});

test('a template listed twice is written once, with the later reading', () => {
  const known = knownRows(wabaId, both);
  const page = pageOf(makeTemplate({ status: 'PAUSED' }), makeTemplate({ status: 'DISABLED' }));
  const changes = changesOfPage(waba, known, { page, readAtMs: 5 });
  expect(changes.map((change) => change.status.now)).toEqual(['DISABLED']);
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
});

test('a template that cannot be read is there all the same; one without name is unknown', () => {
  const unreadable = [{ name: 'odd', language: 'es' }, { name: 'odd' }];
  expect(keysOfPage(wabaId, { templates: [template], unreadable })).toEqual([
    key,
    templateKey({ wabaId, name: 'odd', language: 'es' }),
    undefined,
  ]);
});
