import { afterEach, expect, test, vi } from 'vitest';
import { correlated } from '../../../lib/observe/correlation.ts';
import { type LogFacts, log, logEvents } from '../../../lib/observe/log.ts';
import { documentOf, tableRows } from '../../support/documents.ts';

const runBook = documentOf('infra/operate/LOGS.md');

afterEach(() => {
  vi.restoreAllMocks();
});

function linesOf(work: () => void): Record<string, unknown>[] {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  work();
  return write.mock.calls.map(([line]) => JSON.parse(String(line)));
}

test('every event is explained in the run book, and the run book explains no other', () => {
  const explained = tableRows(runBook, '| Event |').flatMap(([names = '']) => names.replaceAll('`', '').split(', '));
  expect(explained.sort()).toEqual([...logEvents]);
});

test('a line has the event, the time, the id of the request and the given facts', () => {
  const [line] = linesOf(() =>
    correlated('request-1', () => log('dispatch.accepted', { dispatchId: 'dispatch-1', count: 2 })),
  );
  expect(line).toEqual({
    event: 'dispatch.accepted',
    at: expect.stringMatching(/Z$/),
    correlationId: 'request-1',
    dispatchId: 'dispatch-1',
    count: 2,
  });
});

test('work side by side keeps its own id, and there is none outside', async () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const one = async (id: string) => {
    await Promise.resolve();
    log('dispatch.accepted', { dispatchId: id });
  };
  await Promise.all(['a', 'b'].map((id) => correlated(id, () => one(id))));
  log('dispatch.accepted', { dispatchId: 'none' });
  const lines = write.mock.calls.map(([line]) => JSON.parse(String(line)));
  expect(lines.map(({ correlationId, dispatchId }) => [correlationId, dispatchId])).toEqual([
    ['a', 'a'],
    ['b', 'b'],
    [undefined, 'none'],
  ]);
});

test('what is not on the list of facts is not logged (R44)', () => {
  const facts = { dispatchId: 'dispatch-1', to: '5491100000009' } as LogFacts;
  const [line] = linesOf(() => log('dispatch.accepted', facts));
  expect(Object.keys(line ?? {})).toEqual(['event', 'at', 'dispatchId']);
});
