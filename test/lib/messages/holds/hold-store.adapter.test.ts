import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { beforeEach, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { ended } from '../../../../lib/messages/holds/hold-ends.ts';
import { holdStore } from '../../../../lib/messages/holds/hold-store.ts';
import { type Probe, probeEnded, readAs, readingTaken } from '../../../../lib/messages/holds/questions.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const startMs = 1_800_000_000_000;
const template = { templateName: 'order', templateLanguage: 'es_AR' };
const message = { category: 'UTILITY', path: 'messages', phoneNumberId: '1', ...template } as const;
let table: string;

beforeEach(async () => {
  table = await freshTable('messages');
});

function store(nowMs = startMs) {
  return holdStore(tableOf(localDocumentClient(), table, { nowMs: () => nowMs }), { pause: async () => undefined });
}

test('what is stored is found again; nothing is held of a WABA of which nothing is stored (D46)', async () => {
  expect(await store().find('W1')).toEqual(noHolds);
  const written = await store().change(
    'W1',
    opened('waba', { code: '368', nowMs: startMs, untilMs: startMs + 60_000 }),
  );
  expect(written?.holds.waba).toMatchObject({ code: '368', untilMs: startMs + 60_000 });
  expect(await store().find('W1')).toEqual(written);
  expect(await store().find('W2')).toEqual(noHolds);
  const Key = { pk: 'WABA#W1', sk: 'HOLDS' };
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key }));
  expect(Item).toMatchObject({ version: 1, expiresAtSeconds: startMs / 1_000 + 30 * 86_400 });
  const unproven = { waba: { atMs: startMs + 5_000, asks: 0 } };
  expect(await store().change('W1', ended('waba', startMs, startMs + 5_000))).toEqual({ ...noHolds, unproven });
  expect(await store().find('W1')).toEqual({ ...noHolds, unproven });
  const review = opened('template:a/es', { code: '132001', nowMs: startMs, byReading: true });
  await store().change('W1', (holds) => readingTaken('template:a/es', startMs + 10_000)(review(holds)));
  const verdict = { state: 'failed', code: 'template_changed', reason: 'why', atMs: startMs + 10_000 } as const;
  await store().change('W1', readAs({ scope: 'template:a/es', sinceMs: startMs, ask: 1 }, verdict, startMs + 11_000));
  expect((await store().find('W1')).holds['template:a/es']).toMatchObject({ byReading: true, asks: 1, verdict });
});

test('of five who may ask at once one does, and its answer ends the hold', async () => {
  await store().change('W1', opened('number:1', { code: '133010', nowMs: startMs }));
  expect(await store(startMs + 9_999).takeProbe('W1', message)).toBeUndefined();
  const questions = await Promise.all(
    Array.from({ length: 5 }, () => store(startMs + 10_000).takeProbe('W1', message)),
  );
  const [mine, ...others] = questions.filter((question) => question !== undefined);
  expect(others).toEqual([]);
  expect(mine?.of).toEqual([{ scope: 'number:1', sinceMs: startMs, ask: 1 }]);
  expect(await store().change('W1', probeEnded(mine as Probe, 'taken', startMs + 11_000))).toEqual(noHolds);
});

test('an item that cannot be read is no hold', async () => {
  await localDocumentClient().send(
    new PutCommand({ TableName: table, Item: { pk: 'WABA#W1', sk: 'HOLDS', version: 1, writer: 'w' } }),
  );
  await expect(store().find('W1')).rejects.toThrow();
});

/** Moments and scopes are few, so that writes collide. */
const anyWrite = fc.record({
  name: fc.constantFrom('open', 'ask', 'ask', 'answer', 'end'),
  scope: fc.constantFrom('waba', 'number:1', 'utility'),
  result: fc.constantFrom('taken', 'refused', 'unclear'),
  atMs: fc.constantFrom(startMs, startMs + 10_000, startMs + 70_000, startMs + 200_000),
});

test('every write does what the model of worlds does (D46)', async () => {
  let wabas = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(anyWrite, { minLength: 1, maxLength: 12 }), async (writes) => {
      wabas += 1;
      const wabaId = `MODEL${wabas}`;
      let nowMs = startMs;
      const model = new MemoryHolds(() => nowMs);
      let question: Probe | undefined;
      for (const { name, scope, result, atMs } of writes) {
        nowMs = atMs;
        if (name === 'ask') {
          const asked = await store(nowMs).takeProbe(wabaId, message);
          expect(asked).toEqual(await model.takeProbe(wabaId, message));
          question = asked ?? question;
        } else {
          const open = opened(scope, { code: scope === 'waba' ? '368' : 'no_answer', nowMs });
          const answer = question === undefined ? open : probeEnded(question, result, nowMs);
          const rule = { open, answer, end: ended(scope, startMs, nowMs) }[name];
          expect(await store(nowMs).change(wabaId, rule)).toEqual(await model.change(wabaId, rule));
        }
        expect(await store(nowMs).find(wabaId)).toEqual(await model.find(wabaId));
      }
    }),
    { numRuns: 60 },
  );
});
