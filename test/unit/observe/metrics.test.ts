import { afterEach, expect, test, vi } from 'vitest';
import { count, countPlatformError, metered } from '../../../lib/observe/metrics.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

async function linesOf(work: () => Promise<void>): Promise<Record<string, unknown>[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  await metered(work).catch(() => undefined);
  return write.mock.calls.map(([line]) => JSON.parse(String(line)));
}

const format = (dimensions: string[], ...names: string[]) => ({
  Timestamp: expect.any(Number),
  CloudWatchMetrics: [
    {
      Namespace: 'TemplateMessaging',
      Dimensions: [dimensions],
      Metrics: names.map((Name) => ({ Name, Unit: 'Count' })),
    },
  ],
});

test('one line holds the sums of an invocation, and the next invocation begins at nothing', async () => {
  const lines = await linesOf(async () => {
    count('MessagesSent', 7);
    count('MessagesFailed');
    count('MessagesSent', 3);
  });
  expect(lines).toEqual([
    {
      _aws: format(['service'], 'MessagesSent', 'MessagesFailed'),
      service: expect.any(String),
      MessagesSent: 10,
      MessagesFailed: 1,
    },
  ]);
  vi.restoreAllMocks();
  expect(await linesOf(async () => undefined)).toEqual([]);
});

test('platform errors have a line for each code', async () => {
  const lines = await linesOf(async () => {
    countPlatformError('131026');
    countPlatformError('other');
    countPlatformError('131026');
  });
  expect(lines).toMatchObject([
    { _aws: format(['service', 'code'], 'PlatformErrors'), code: '131026', PlatformErrors: 2 },
    { _aws: format(['service', 'code'], 'PlatformErrors'), code: 'other', PlatformErrors: 1 },
  ]);
});

test('an invocation that fails is counted too', async () => {
  const lines = await linesOf(async () => {
    count('SyncWabasFailed');
    throw new Error('given up');
  });
  expect(lines).toMatchObject([{ SyncWabasFailed: 1 }]);
});
