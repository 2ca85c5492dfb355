import { expect, test } from 'vitest';
import {
  type HeaderMedia,
  type MediaPorts,
  withMediaHandles,
} from '../../../../lib/templates/authoring/header-media.ts';
import { requestTime } from '../../../../lib/templates/authoring/request-time.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const image = (source: string) => ({
  type: 'HEADER',
  format: 'IMAGE',
  header_source: `https://a.example.com/${source}`,
});
const carousel = (...sources: string[]) => ({
  type: 'CAROUSEL',
  cards: sources.map((source) => ({ components: [image(source)] })),
});

/** Fetches and uploads take time on a test clock; `events` records them in order. */
function slowPorts({ fetchMs = 0, uploadMs = 0, passedMs = 0 }) {
  let nowMs = passedMs;
  const events: string[] = [];
  const ports: MediaPorts = {
    fetchPublic: async (url, { totalMs }) => {
      events.push(`fetch ${url.slice(-1)} in ${totalMs}`);
      nowMs += Math.min(fetchMs, totalMs);
      return { bytes: url.endsWith('!') ? Buffer.from('no image') : png };
    },
    uploadMedia: async (_, { name }, timeLeftMs) => {
      events.push(`upload ${name} in ${timeLeftMs()}`);
      nowMs += uploadMs;
      timeLeftMs();
      return `4::${name}`;
    },
  };
  const time = requestTime(() => nowMs, 0);
  const outcome = (components: HeaderMedia['components'], file?: HeaderMedia['file']) =>
    withMediaHandles(ports, { components, credential: 'demo', time, file });
  const handles = (...given: Parameters<typeof outcome>) =>
    outcome(...given).catch(({ status, message }: { status: number; message: string }) => `${status} ${message}`);
  return { events, outcome, handles, time };
}

const tooLate = '502 too little time was left for the platform; nothing was changed there';

test('nothing is uploaded while one of the files will not do', async () => {
  const { events, handles } = slowPorts({});
  expect(await handles([carousel('a', 'b', '!')])).toBe('400 IMAGE media must be image/jpeg or image/png');
  expect(events).toEqual(['fetch a in 8000', 'fetch b in 8000', 'fetch ! in 8000']);
});

test('every file that will not do is told', async () => {
  const { outcome } = slowPorts({});
  const path = (card: number) => `components[0].cards[${card}].components[0].header_source`;
  await expect(outcome([carousel('!', 'b', '!')])).rejects.toMatchObject({
    details: { errors: [{ path: path(0) }, { path: path(2) }] },
  });
});

test('each card gets the handle of its own file, and the file of the request is for none of them', async () => {
  const { handles } = slowPorts({});
  const card = (name: string) => ({ components: [{ type: 'HEADER', format: 'IMAGE', header_handle: `4::${name}` }] });
  expect(await handles([carousel('a', 'b')], { bytes: png, name: 'f' })).toEqual([
    { type: 'CAROUSEL', cards: [card('a'), card('b')] },
  ]);
});

test('what a slow download takes is missing from the upload', async () => {
  const { events, handles, time } = slowPorts({ fetchMs: 7_000, uploadMs: 2_000 });
  expect(await handles([image('a')])).toEqual([{ type: 'HEADER', format: 'IMAGE', header_handle: '4::a' }]);
  expect(events).toEqual(['fetch a in 8000', 'upload a in 6000']);
  expect(time.forCall()).toBe(12_000);
});

test.each([
  ['a start that was slow already', { passedMs: 12_500 }, []],
  ['a download that used it up', { passedMs: 4_500, fetchMs: 8_000 }, ['fetch a in 8000']],
  ['an upload that used it up', { uploadMs: 12_500 }, ['fetch a in 8000', 'upload a in 13000']],
])('too little time after %s: 502', async (_, clock, expected) => {
  const { events, handles } = slowPorts(clock);
  expect(await handles([image('a')])).toBe(tooLate);
  expect(events).toEqual(expected);
});

test('a download gets no more than what is left', async () => {
  const { events, handles } = slowPorts({ passedMs: 9_000 });
  await handles([image('a')]);
  expect(events[0]).toBe('fetch a in 4000');
});
