import { RootConstruct } from 'constructs';
import { expect, test } from 'vitest';
import { functions } from '../../infra/functions.ts';
import prices from '../../infra/operate/list-prices.json' with { type: 'json' };
import { requestLimits } from '../../infra/routes.ts';
import { settingsFrom } from '../../infra/settings.ts';
import { documentOf, tableRows } from '../support/documents.ts';

const limitsByDefault = requestLimits(settingsFrom(new RootConstruct().node));
const readme = documentOf('infra/README.md');
const priceOf = (name: keyof typeof prices.prices) => prices.prices[name].dollars / prices.prices[name].per;
const dollars = (amount: number) => `$${amount.toFixed(2)}`;

/** infra/README.md assumes this for one request of a flood: the run time, and the units of the tables. */
const floods = [
  { what: 'POST /login', operation: 'login', ms: 550, readUnits: 4, writeUnits: 3 },
  { what: 'GET /health', operation: 'health', ms: 5, readUnits: 0, writeUnits: 0 },
  { what: 'POST /platform/webhook', operation: 'platform-webhook-receive', ms: 20, readUnits: 0, writeUnits: 0 },
] as const;
const logBytes = 1_000;

test('what an attack costs follows from limits, memory and prices', () => {
  const rows = tableRows(readme, '| Flood | Requests an hour |');
  const expected = floods.map(({ what, operation, ms, readUnits, writeUnits }) => {
    const limit = limitsByDefault.find((each) => each.what === what);
    const requests = 3_600 * (limit?.ratePerSecond ?? 0);
    const gigabytes = (functions[operation]?.memoryMb ?? 0) / 1_024;
    const lambda = requests * (priceOf('invocations') + (ms / 1_000) * gigabytes * priceOf('computedGbSeconds'));
    const parts = [
      requests * priceOf('apiRequests'),
      lambda,
      requests * logBytes * priceOf('logBytes'),
      requests * (readUnits * priceOf('readUnits') + writeUnits * priceOf('writeUnits')),
    ];
    return [requests.toLocaleString('en-US'), dollars(parts.reduce((sum, part) => sum + part, 0))];
  });
  expect(rows.map(([, requests, , together]) => [requests, together])).toEqual(expected);
});

test('the limits of what strangers can ask are those of the routes', () => {
  const rows = tableRows(readme, '| Route | A second, and at once |').slice(1);
  const shown = rows.map(([route = '', limit = '']) => [route.replaceAll('`', ''), limit.replace(/ \(.*/, '')]);
  const limits = limitsByDefault.slice(1);
  const expected = limits.map(({ what, ratePerSecond, burst }) => [
    what,
    `${ratePerSecond.toLocaleString('en-US')}, ${burst.toLocaleString('en-US')}`,
  ]);
  expect(shown.toSorted()).toEqual(expected.toSorted());
});
