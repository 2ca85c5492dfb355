import { expect, test } from 'vitest';
import { count, countPlatformError } from '../../../lib/observe/metrics.ts';
import { countedBy } from '../../support/counted.ts';

const directive = (dimensions: string[], ...names: string[]) => ({
  Namespace: 'TemplateMessaging',
  Dimensions: [dimensions],
  Metrics: names.map((Name) => ({ Name })),
});
const format = (...directives: ReturnType<typeof directive>[]) => ({
  Timestamp: expect.any(Number),
  CloudWatchMetrics: directives,
});

test('one line holds the sums of an invocation, and the next invocation begins at nothing', async () => {
  const lines = await countedBy(async () => {
    count('MessagesSent', 7);
    count('MessagesFailed');
    count('MessagesSent', 3);
  });
  expect(lines).toEqual([
    {
      _aws: format(directive(['service'], 'MessagesSent', 'MessagesFailed')),
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
    { _aws: format(directive(['service', 'code'], 'PlatformErrors')), code: '131026', PlatformErrors: 2 },
    { _aws: format(directive(['service', 'code'], 'PlatformErrors')), code: 'other', PlatformErrors: 1 },
  ]);
});

test('the first code stands in the line of what is counted beside it, and its dimension is only its own', async () => {
  const lines = await countedBy(async () => {
    countPlatformError('130429');
    count('MessagesSent', 3);
    countPlatformError('131026');
  });
  const errors = directive(['service', 'code'], 'PlatformErrors');
  const service = expect.any(String);
  expect(lines).toEqual([
    {
      _aws: format(directive(['service'], 'MessagesSent'), errors),
      service,
      MessagesSent: 3,
      code: '130429',
      PlatformErrors: 1,
    },
    { _aws: format(errors), service, code: '131026', PlatformErrors: 1 },
  ]);
});

test('an invocation that fails is counted too', async () => {
  const lines = await countedBy(async () => {
    count('SyncWabasFailed');
    throw new Error('given up');
  });
  expect(lines).toMatchObject([{ SyncWabasFailed: 1 }]);
});
