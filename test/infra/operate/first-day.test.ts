import { expect, test } from 'vitest';
import { factsReview, reviewFinding, reviewOf } from '../../../infra/operate/stage/facts-review.ts';
import { firstDayFindings, firstDayReads } from '../../../infra/operate/stage/first-day.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformCall, PlatformTransport } from '../../../lib/platform/transport.ts';
import { documentOf, sectionsOf, tableRows } from '../../support/documents.ts';

/* These cases show a platform that differs from the facts; test/contract/doctor.test.ts asks the simulator. */

const facts = documentOf('lib/platform/FACTS.md');
const sections = sectionsOf(facts);
const asked = { wabaId: '2001', accessToken: 'token' };

const number = { id: '3001', status: 'CONNECTED' };
const template = { id: '4001', name: 'order_update', status: 'APPROVED', source: 'MANUAL' };
const healthy = { can_send_message: 'AVAILABLE', entities: [{ entity_type: 'WABA', can_send_message: 'AVAILABLE' }] };

/**
 * The answers agree with the facts and stand by path; after a blank stands the parameter that distinguishes two reads
 * of a path.
 */
const asTold: Readonly<Record<string, object>> = {
  '2001': { id: '2001', primary_funding_id: '1' },
  '2001/phone_numbers': { data: [number] },
  '3001': { id: '3001', whatsapp_business_manager_messaging_limit: 'TIER_2K' },
  '3001 health_status': { health_status: healthy },
  '2001/message_templates': { data: [template] },
  '2001/message_templates name': { data: [template, { ...template, name: 'order_update_2' }] },
  '2001/message_templates source': { data: [{ ...template, source: 'AUTO_GENERATED' }] },
  '4001': template,
  '2001/subscribed_apps': { data: [{}] },
  '2001/product_catalogs': { data: [] },
};

function platformWith(changes: Readonly<Record<string, object>>): PlatformTransport {
  const answers: Readonly<Record<string, object>> = { ...asTold, ...changes };
  return async (call) => {
    const body = answers[nameOf(call)] ?? answers[call.path];
    if (call.accessToken === 'not-a-token') throw new PlatformFailure('refused', { httpStatus: 401, code: 190 });
    if (body === undefined) throw new PlatformFailure('refused', { httpStatus: 400, code: 100, subcode: 33 });
    if (body instanceof PlatformFailure) throw body;
    return { body: body as Record<string, unknown> };
  };
}

function nameOf({ path, query = {} }: PlatformCall): string {
  if (query['fields'] === 'health_status') return `${path} health_status`;
  const filter = ['name', 'source'].find((each) => query[each] !== undefined);
  return filter === undefined ? path : `${path} ${filter}`;
}

const statesWith = async (changes: Readonly<Record<string, object>>) =>
  (await firstDayFindings(platformWith(changes), asked)).filter(({ state }) => state !== 'good');

test('a platform that agrees with the facts: every read is good', async () => {
  expect(await statesWith({})).toEqual([]);
});

const unwell = { health_status: { ...healthy, can_send_message: 'BLOCKED' } };
const catalogs = '2001/product_catalogs';
const refusedWith = (code: number) => new PlatformFailure('refused', { httpStatus: 400, code });

test.each<[string, string, object, string]>([
  ['nothing to pay with', '2001', { id: '2001' }, '8, the WABA'],
  ['a status of a number', '2001/phone_numbers', { data: [{ ...number, status: 'ASLEEP' }] }, '8, its numbers'],
  ['a limit', '3001', { whatsapp_business_manager_messaging_limit: 'TIER_5' }, '8, what the portfolio'],
  ['a number that is not well', '3001 health_status', unwell, '8, the health'],
  ['a form of health', '3001 health_status', {}, '8, the health'],
  [
    'a template without source',
    '2001/message_templates',
    { data: [{ ...template, source: undefined }] },
    '2.3, templates, a',
  ],
  [
    'a status of a template',
    '2001/message_templates',
    { data: [{ ...template, status: 'WILTED' }] },
    '2.3, templates, a',
  ],
  ['a filter that is exact', '2001/message_templates name', { data: [] }, '2.1'],
  ['a source that does not filter', '2001/message_templates source', { data: [template] }, '2.3, templates that'],
  ['another template', '4001', { ...template, id: '4002' }, '2.2, one template'],
  ['an id that is answered', '20010000000', {}, '2.2, an id'],
  ['another refusal of it', '20010000000', refusedWith(1), '2.2, an id'],
  ['no app that is told', '2001/subscribed_apps', { data: [] }, '8, the apps'],
  ['two catalogs', catalogs, { data: [{ id: '1' }, { id: '2' }] }, '7'],
  ['no list', catalogs, { catalogs: [] }, '7'],
  ['a refusal', catalogs, refusedWith(10), '7'],
])('what differs is told: %s', async (_, path, answer, told) => {
  const [first, ...others] = await statesWith({ [path]: answer });
  expect([first?.state, others]).toEqual(['bad', []]);
  expect(first?.text).toMatch(new RegExp(`^FACTS ${told}[^:]*: .`));
});

test('an invalid token that is accepted is reported; a WABA without numbers and templates is no fault', async () => {
  const anyToken: PlatformTransport = async (call) => await platformWith({})({ ...call, accessToken: 'token' });
  expect((await firstDayFindings(anyToken, asked)).filter(({ state }) => state === 'bad')).toMatchObject([
    { text: 'FACTS 6.2, with a token that is none: it is answered' },
  ]);
  const empty = await statesWith({ '2001/phone_numbers': { data: [] }, '2001/message_templates': { data: [] } });
  expect(empty.map(({ state }) => state)).toEqual(['skipped', 'skipped', 'skipped', 'skipped']);
});

test('FIRST-DAY.md has twenty calls: the reads, each of a section that there is, and those of its table', () => {
  const changing = tableRows(documentOf('lib/platform/FIRST-DAY.md'), '| | Call | Tells | Facts |');
  expect(firstDayReads.length + changing.length).toBeLessThanOrEqual(20);
  const cited = [
    ...firstDayReads.map((read) => read.facts),
    ...changing.flatMap((row) => row.at(-1)?.split(', ') ?? []),
  ];
  const numbers = [...sections.keys()].map((heading) => heading.split(' ')[0]);
  expect(cited.filter((section) => !numbers.includes(section))).toEqual([]);
});

test('each section of facts has the date of its last check, and the beginning has the date of the next', () => {
  const withoutDate = [...sections].filter(
    ([heading, text]) => /^\d/.test(heading) && text.trim() !== '' && !/^\s*\*Seen \d{4}-\d{2}\.\*\s/.test(text),
  );
  expect(withoutDate.map(([heading]) => heading)).toEqual(['11 Not verified']);
  const { oldest, due } = factsReview();
  expect(facts.replaceAll(/\s+/g, ' ')).toContain(
    `The oldest was seen in ${oldest}, so the next review is due in ${due};`,
  );
});

test('the oldest fact decides: a year and a half after it was seen all are to be looked at again', () => {
  const review = reviewOf('*Seen 2026-09.*\n\n- a fact *(doc 2026-08)*\n\n*Seen 2027-01.*\n');
  expect(review).toEqual({ oldest: '2026-08', due: '2028-02' });
  const stateAt = (time: string) => reviewFinding(review, Date.parse(time)).state;
  expect([stateAt('2028-01-31T23:59:59Z'), stateAt('2028-02-01T00:00:00Z')]).toEqual(['good', 'bad']);
  expect(() => reviewOf('nothing')).toThrow('no dates');
});

test.each([
  '*(doc 2026-07, doc 2026-02)*',
  '*(others; doc 2026-02)*',
  'a mark *(ours: it says so)* and one *(doc 2026-02)*',
])('a mark that names several sources is as old as the oldest: %s', (mark) => {
  expect(reviewOf(`*Seen 2026-09.*\n\n- a fact ${mark}\n`).oldest).toBe('2026-02');
});
