import { expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { StoredRecipient } from '../../../../lib/messages/dispatch/head.ts';
import { recomposedChunk } from '../../../../lib/messages/fan-out/recompose-chunk.ts';
import { composeMessage } from '../../../../lib/messages/request/compose.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { body, makeTemplate } from '../../../support/platform-templates.ts';
import { chunkOf } from '../send/chunk-run-world.ts';

/** After a review, queued messages are judged and composed by the template as it is now (D46, D56). */

const nowMs = 1_800_000_000_000;
const head = makeDispatchHead({ dispatchId: 'J', total: 3, category: 'UTILITY' });
const stored: readonly StoredRecipient[] = [
  { to: '5491100000000', params: { body: ['Ana'] } },
  { to: '5491100000001' },
  {},
];

function judged(chunk: QueuedChunk, template: Parameters<typeof makeTemplate>[1], text: string) {
  const fact = {
    ...{ wabaId: head.wabaId, deleted: false, readAtMs: 1, sinceMs: 1 },
    template: makeTemplate([body(text)], { name: 'order_update', ...template }),
  };
  const plan = { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] };
  return recomposedChunk(chunk, {
    directory: memoryDirectory({ channels: [makeChannel()], wabas: [makeWaba()] }),
    templates: { find: async () => ({ fact }) },
    dispatches: {
      find: async () => ({ head, plan, repeats: [], waitsMs: new Map() }),
      recipientsFrom: async (_, index) => stored.slice(index),
    },
    compose: composeMessage,
    log: () => undefined,
    nowMs: () => nowMs,
  });
}

const old = { biz_opaque_callback_data: 'old' };
const waiting = chunkOf(
  [
    {
      ...{ try: 2, size: 3, position: 7 },
      recipients: [
        { index: 0, to: '5491100000000', request: old, notBeforeMs: 5, attempts: { pair: 1 }, notThere: true },
        { index: 1, to: '5491100000001', request: old },
        { index: 2 },
      ],
    },
  ],
  { category: 'UTILITY', dispatchId: 'J' },
);
const textOf = (request: object | undefined) => JSON.stringify(request).match(/"text":"Ana"/)?.[0];

test('who fits is composed again, who does not fails, an erased person stays so, and what was tried stays known', async () => {
  const after = await judged(waiting, { category: 'MARKETING' }, 'Hello {{1}}');
  if (after.kind === 'refused') throw new Error('it is refused');
  const { slices, category, heedsOptOuts, composedMs } = after.chunk;
  expect([category, heedsOptOuts, composedMs]).toEqual(['MARKETING', true, nowMs]);
  const [fits, unfit, erased] = slices[0]?.recipients ?? [];
  expect(slices[0]).toMatchObject({ try: 2, size: 3, position: 7 });
  expect(fits).toMatchObject({ index: 0, notBeforeMs: 5, attempts: { pair: 1 }, notThere: true });
  expect(textOf(fits?.request)).toBeDefined();
  expect([unfit, erased]).toEqual([{ index: 1, to: '5491100000001', unfit: true }, { index: 2 }]);
});

test('a straight chunk is judged by what it carries', async () => {
  const recipients = stored.map((recipient, index) => ({ index, request: old, ...recipient }));
  const straight = { ...waiting, straight: true, alone: true, slices: [{ try: 0, size: 3, recipients }] } as const;
  const after = await judged({ ...straight, slices: [...straight.slices] }, {}, 'Hello {{1}}');
  if (after.kind === 'refused') throw new Error('it is refused');
  expect(after.chunk).toMatchObject({ straight: true, alone: true, composedMs: nowMs });
  const [fits, unfit] = after.chunk.slices[0]?.recipients ?? [];
  expect([textOf(fits?.request), unfit?.unfit]).toEqual(['"text":"Ana"', true]);
});

test('a template that cannot be sent any more refuses all of it', async () => {
  expect(await judged(waiting, { parameter_format: 'NAMED' }, 'Hello {{1}}')).toMatchObject({
    kind: 'refused',
    stop: { state: 'failed', code: 'template_changed' },
  });
});
