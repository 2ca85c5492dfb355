import { beforeEach, expect, test } from 'vitest';
import { hintsOf } from '../../../lib/hints/hint-message.ts';
import { heedTemplateWord, type WordPorts } from '../../../lib/hints/template-words.ts';
import { heedReadings, heedWord } from '../../../lib/messages/holds/template-holds.ts';
import type { PlatformTemplate } from '../../../lib/templates/model/template.ts';
import { templateKey } from '../../../lib/templates/model/template-key.ts';
import { templateStore } from '../../../lib/templates/model/template-store.ts';
import { makeWaba } from '../../support/directory.ts';
import { MemoryEvents } from '../../support/memory-events.ts';
import { MemoryHolds } from '../../support/memory-holds.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';
import { makeTemplate } from '../../support/templates.ts';

/** What the platform says stricter counts at once, without a call, until a reading confirms or lifts it (D42, D46). */

const waba = makeWaba();
const { wabaId, clientIds } = waba;
const readMs = 1_800_000_000_000;
const wordMs = readMs + 10_000;
const template = makeTemplate({ name: 'welcome', language: 'en_US', id: '7', category: 'UTILITY', status: 'APPROVED' });
const key = templateKey({ wabaId, ...template });
const scope = 'template:welcome/en_US';

let nowMs: number;
let templates: ReturnType<typeof templateStore>;
let holds: MemoryHolds;
let events: MemoryEvents;

beforeEach(async () => {
  nowMs = readMs;
  templates = templateStore(localDocumentClient(), await freshTable('templates'));
  [holds, events] = [new MemoryHolds(() => nowMs), new MemoryEvents()];
  await read({});
});

/** The platform's answer is stored as a synchronization does. */
async function read(changes: Partial<PlatformTemplate>, of = waba): Promise<void> {
  await templates.refresh(of, { ...template, ...changes }, nowMs);
}

const ports = (): WordPorts => {
  const held = { holds, templates, nowMs: () => nowMs, log: () => undefined };
  return {
    ...{ templates, events, nowMs: () => nowMs },
    templateHolds: {
      heedWord: (...word) => heedWord(...word, held),
      heedReadings: (id) => heedReadings(id, held),
    },
  };
};

interface Said {
  readonly value?: Readonly<Record<string, unknown>>;
  readonly atMs?: number;
  readonly of?: typeof waba;
}

/** The platform's webhook arrives now. */
async function tell(field: string, { value, atMs, of = waba }: Said): Promise<void> {
  const named = { message_template_id: 7, message_template_name: 'welcome', message_template_language: 'en_US' };
  const update = { wabaId: of.wabaId, field, value: { ...named, ...value }, atMs };
  for (const { words = [] } of hintsOf([update], nowMs))
    for (const word of words) await heedTemplateWord(of, word, ports());
}

const status = async (event: string, more: Omit<Said, 'value'> & { value?: object } = {}) => {
  nowMs = wordMs;
  await tell('message_template_status_update', { ...more, value: { event, ...more.value } });
};
const stored = async () => {
  const fact = (await templates.storedFacts([key])).get(key);
  return [fact?.template.status, fact?.template.category, fact?.deleted];
};
const held = () => holds.of(wabaId).holds[scope]?.code;
const told = () => events.sent.map(({ type, clientId }) => `${type} ${clientId}`).sort();

test.each([
  ['PENDING', 'template_in_review', false],
  ['PAUSED', '132015', false],
  ['DISABLED', '132016', false],
  ['REJECTED', '132001', false],
  ['PENDING_DELETION', '132001', true],
  ['DELETED', '132001', true],
])('%s holds its messages, is stored for each client of the WABA and told once', async (event, code, deleted) => {
  for (const _ of [1, 2]) await status(event, { value: { reason: 'SCAM' } });
  expect([await stored(), held()]).toEqual([[event, 'UTILITY', deleted], code]);
  const type = deleted ? 'template.deleted' : 'template.status_changed';
  expect(told()).toEqual(clientIds.map((clientId) => `${type} ${clientId}`));
  expect(events.sent.map(({ data }) => ('rejected_reason' in data ? data.rejected_reason : undefined))).toEqual(
    clientIds.map(() => (event === 'REJECTED' ? 'SCAM' : undefined)),
  );
  expect((await templates.rowsOf(clientIds[1] ?? 0)).map((row) => [row.status, row.deleted])).toEqual([
    [event, deleted],
  ]);
});

test.each(['template_category_update', 'message_template_category_update'])(
  '%s: MARKETING counts for what is under way',
  async (field) => {
    nowMs = wordMs;
    await tell(field, { value: { previous_category: 'UTILITY', new_category: 'MARKETING' } });
    expect([await stored(), held(), holds.of(wabaId).marketingMs]).toEqual([
      ['APPROVED', 'MARKETING', false],
      undefined,
      { [scope]: wordMs },
    ]);
    nowMs += 1_000;
    await read({ category: 'MARKETING' });
    await heedReadings(wabaId, { holds, templates, nowMs: () => nowMs, log: () => undefined });
    expect(holds.of(wabaId).marketingMs).toEqual({ [scope]: wordMs });
  },
);

test.each<[string, string, object]>([
  ['a looser category', 'template_category_update', { new_category: 'UTILITY' }],
  ['a category to come', 'template_category_update', { new_category: 'UTILITY', correct_category: 'MARKETING' }],
  ['APPROVED', 'message_template_status_update', { event: 'APPROVED' }],
  ['a mere warning', 'message_template_status_update', { event: 'FLAGGED' }],
  ['another id', 'message_template_status_update', { event: 'DISABLED', message_template_id: 8 }],
  ['an id that no number holds', 'message_template_status_update', { event: 'DISABLED', message_template_id: 2 ** 60 }],
  ['another name', 'message_template_status_update', { event: 'DISABLED', message_template_name: 'other' }],
])('%s changes nothing before it is read', async (_, field, value) => {
  nowMs = wordMs;
  await tell(field, { value: value as Said['value'] & object });
  expect([await stored(), holds.of(wabaId).holds, told()]).toEqual([['APPROVED', 'UTILITY', false], {}, []]);
});

test('a word for another WABA changes nothing here, whatever template it names', async () => {
  await status('DISABLED', { of: makeWaba({ wabaId: '200000000000002' }) });
  expect([await stored(), holds.stored.size]).toEqual([['APPROVED', 'UTILITY', false], 0]);
});

test('a template without a name in the word is found by its id', async () => {
  await status('PAUSED', { value: { message_template_name: undefined, message_template_language: undefined } });
  expect(held()).toBe('132015');
});

test('a word older than the stored reading is ignored; one of the same second is not, and none outlasts the next reading', async () => {
  await status('PAUSED', { atMs: readMs - 1_000 });
  expect([await stored(), held()]).toEqual([['APPROVED', 'UTILITY', false], undefined]);
  await status('PAUSED', { atMs: readMs });
  expect(held()).toBe('132015');
  // The platform's clock is ahead: the word counts as of its arrival.
  await status('DISABLED', { atMs: wordMs + 30_000 });
  expect([await stored(), held()]).toEqual([['DISABLED', 'UTILITY', false], '132016']);
  nowMs = wordMs + 1;
  await read({});
  await heedReadings(wabaId, { holds, templates, nowMs: () => nowMs, log: () => undefined });
  expect([await stored(), holds.of(wabaId)]).toMatchObject([
    ['APPROVED', 'UTILITY', false],
    { holds: {}, reviewedMs: { [scope]: wordMs + 1 } },
  ]);
});

test('a reading lifts nothing that it confirms, and a false word of MARKETING is over', async () => {
  await status('PENDING');
  await tell('template_category_update', { value: { new_category: 'MARKETING' } });
  nowMs += 1_000;
  await read({ status: 'PENDING', category: 'UTILITY' });
  await heedReadings(wabaId, { holds, templates, nowMs: () => nowMs, log: () => undefined });
  expect([held(), holds.of(wabaId).marketingMs]).toEqual(['template_in_review', {}]);
});
