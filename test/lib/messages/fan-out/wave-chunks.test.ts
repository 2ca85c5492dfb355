import { describe, expect, test } from 'vitest';
import type { ChunkRecipient } from '../../../../lib/messages/dispatch/chunk.ts';
import { chunksOfWave } from '../../../../lib/messages/fan-out/wave-chunks.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

/** Makes consecutive recipients of a dispatch of 5,000; the first has position 600. */
function waveOf(count: number, { from = 0, text = '', total = 5_000 } = {}) {
  const recipients = Array.from({ length: count }, (_, at): ChunkRecipient => {
    return { index: from + at, to: String(from + at), request: { text } };
  });
  const head = makeDispatchHead({ dispatchId: 'J', total });
  return { head, lane: 'J', limitPerSecond: 80, recipients, firstPosition: 600 };
}

const firsts = (chunks: ReturnType<typeof chunksOfWave>) =>
  chunks.map(({ slices }) => slices.map(({ recipients }) => recipients[0]?.index));

test('three slices are a chunk, each with its position; the last of a dispatch has its own size', () => {
  const chunks = chunksOfWave(waveOf(64, { from: 30, total: 94 }), 14);
  expect(
    chunks.map(({ slices }) => slices.map((slice) => [slice.position, slice.size, slice.recipients.length])),
  ).toEqual([
    [600, 610, 620].map((position) => [position, 10, 10]),
    [630, 640, 650].map((position) => [position, 10, 10]),
    [[660, 4, 4]],
  ]);
  const indexes = chunks.flatMap(({ slices }) =>
    slices.flatMap(({ recipients }) => recipients.map(({ index }) => index)),
  );
  expect(indexes).toEqual(Array.from({ length: 64 }, (_, at) => 30 + at));
  expect(chunks[0]?.slices[0]?.try).toBe(0);
});

test('a chunk says of its dispatch all that a worker needs, but not that it is of codes: it goes the way of dispatches (D44)', () => {
  const wave = waveOf(30);
  const told = { campaignId: 10, attends: { waitTime: -1 } };
  const more = { expiresAtMs: 5, correlationId: 'C', receiptsExpected: true, heedsOptOuts: true } as const;
  const [{ slices: _, ...chunk } = { slices: [] }] = chunksOfWave(
    { ...wave, head: { ...wave.head, ...told, ...more, urgent: true } },
    14,
  );
  const facts = {
    ...{ version: 1, dispatchId: 'J', clientId: 1001, wabaId: '200000000000001', phoneNumberId: '300000000000001' },
    ...{
      credential: 'main',
      path: 'messages',
      category: 'MARKETING',
      acceptedAtMs: 1_700_000_000_000,
      limitPerSecond: 80,
      lane: 'J',
    },
  };
  const about = { did: '5491100000001', template: { name: 'order_update', language: 'en_US' } };
  expect(chunk).toEqual({ ...facts, ...more, about: { ...about, ...told } });
  const [{ slices: _slices, ...bare } = { slices: [] }] = chunksOfWave(wave, 14);
  expect(bare).toEqual({ ...facts, about });
});

describe('a fast number', () => {
  test.each([
    [4, 1],
    [3.9, 2],
    [1.111, 9],
    [0.3, 33],
  ])('with a slot every %d ms has slices %i apart in a chunk', (everyMs, stride) => {
    const [first = [], second = []] = firsts(chunksOfWave(waveOf(990), everyMs));
    expect(first).toEqual([0, 10 * stride, 20 * stride]);
    expect(second[0]).toBe(stride === 1 ? 30 : 10);
  });

  test('still has each slice once, in as few chunks', () => {
    const chunks = firsts(chunksOfWave(waveOf(400), 1.111));
    expect(chunks.flat().toSorted((a = 0, b = 0) => a - b)).toEqual(Array.from({ length: 40 }, (_, at) => at * 10));
    // The first 27 slices make nine chunks, and the other thirteen make five, evenly spread.
    expect(chunks.map(({ length }) => length)).toEqual([...Array(9).fill(3), 3, 3, 3, 2, 2]);
    expect(chunks[9]).toEqual([270, 320, 370]);
  });
});

describe('large messages', () => {
  test.each([
    ['letters', 'x'.repeat(9_000)],
    ['signs that the queue takes twelve bytes each for', '🙂'.repeat(750)],
  ])('are cut into chunks below 200 KB: %s', (_, text) => {
    const chunks = chunksOfWave(waveOf(60, { text }), 14);
    expect(firsts(chunks)).toEqual([[0, 10], [20], [30, 40], [50]]);
  });

  test('that are larger together stay one slice: that is what is claimed', () => {
    expect(firsts(chunksOfWave(waveOf(30, { text: 'x'.repeat(30_000) }), 14))).toEqual([[0], [10], [20]]);
  });
});
