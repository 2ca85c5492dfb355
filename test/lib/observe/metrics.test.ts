import { expect, test } from 'vitest';
import { count, countPlatformError } from '../../../lib/observe/metrics.ts';
import { countedBy } from '../../support/counted.ts';

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
  const lines = await countedBy(async () => {
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
  expect(await countedBy(async () => undefined)).toEqual([]);
});

test('platform errors have a line for each code', async () => {
  const lines = await countedBy(async () => {
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
  const lines = await countedBy(async () => {
    count('SyncWabasFailed');
    throw new Error('given up');
  });
  expect(lines).toMatchObject([{ SyncWabasFailed: 1 }]);
});
