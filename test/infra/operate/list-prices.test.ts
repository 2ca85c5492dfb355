import { expect, test } from 'vitest';
import list from '../../../infra/operate/list-prices.json' with { type: 'json' };
import { billedNames, dollarsOf, lambdaTime, times, together, totalDollars } from '../../bench/cost/price.ts';
import { tableOf } from '../../bench/cost/table.ts';

test('the price list says of where and when it is, and every price for how many of what', () => {
  expect(list).toMatchObject({ region: expect.any(String), source: expect.any(String), currency: 'USD' });
  expect(list.asOf).toMatch(/^20\d\d-\d\d$/);
  for (const { dollars, per, what } of Object.values(list.prices)) {
    expect(dollars).toBeGreaterThan(0);
    expect(per).toBeGreaterThan(0);
    expect(what).not.toBe('');
  }
});

test('parts are added and multiplied by name, and cost what the list says', () => {
  const counts = together({ writeUnits: 2, apiRequests: 1 }, times({ writeUnits: 1, logBytes: 10 }, 3));
  expect(counts).toMatchObject({ writeUnits: 5, apiRequests: 1, logBytes: 30, readUnits: 0 });
  const { writeUnits } = dollarsOf({ writeUnits: 2_000_000 });
  expect(writeUnits).toBe((2_000_000 / list.prices.writeUnits.per) * list.prices.writeUnits.dollars);
  const each = Object.fromEntries(billedNames.map((name) => [name, list.prices[name].per]));
  const sum = Object.values(list.prices).reduce((total, { dollars }) => total + dollars, 0);
  expect(totalDollars(each)).toBeCloseTo(sum, 9);
});

test('waiting is billed by memory, computing by the share of the processor that goes with it', () => {
  const time = { waitedMs: 4_000, processorMs: 1_000 };
  const computedGbSeconds = 1_769 / 1_024;
  expect(lambdaTime({ memoryMb: 256, ...time })).toEqual({ waitedGbSeconds: 1, computedGbSeconds });
  expect(lambdaTime({ memoryMb: 1_024, ...time })).toEqual({ waitedGbSeconds: 4, computedGbSeconds });
});

test('a table has a line for each that is billed, a column for each part, and adds up', () => {
  const lines = tableOf('Title', { one: { writeUnits: 1 }, other: { writeUnits: 1, invocations: 0.1 } }).split('\n');
  expect(lines).toHaveLength(billedNames.length + 3);
  expect(lines[0]).toBe('Title');
  expect(lines[1]).toMatch(/one\s+other\s+\$ a million$/);
  expect(lines.at(-1)).toMatch(/together\s+0\.625\s+0\.645\s+1\.270$/);
});
