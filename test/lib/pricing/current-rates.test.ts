import { expect, test } from 'vitest';
import { currentRates } from '../../../lib/pricing/current-rates.ts';
import { type Rates, shippedRates } from '../../../lib/pricing/rates.ts';
import { makeRates } from '../../support/rates.ts';

const hourMs = 3_600_000;

/** The store returns these in turn; an Error makes the read fail. */
function setup(...found: (readonly Rates[] | Error)[]) {
  const clock = { nowMs: 1_800_000_000_000 };
  let readings = 0;
  const rates = currentRates(
    async () => {
      const next = found[readings];
      readings += 1;
      if (next instanceof Error) throw next;
      return next ?? [];
    },
    shippedRates,
    () => clock.nowMs,
  );
  return { clock, rates, readings: () => readings };
}

const [january, later] = [makeRates('2027-01-01'), makeRates('2027-01-16')];

test('the store is read once in 24 hours', async () => {
  const { clock, rates, readings } = setup([january], [january, later]);
  expect(await rates()).toBe(january);
  clock.nowMs += 24 * hourMs - 1;
  expect(await rates()).toBe(january);
  expect(readings()).toBe(1);
  clock.nowMs += 1;
  expect(await rates()).toBe(later);
});

test('rates of a day to come are in force on that day, without another reading', async () => {
  const { clock, rates, readings } = setup([january, later]);
  expect(await rates()).toBe(january);
  clock.nowMs = Date.parse('2027-01-15T23:59:59.999Z');
  expect(await rates()).toBe(january);
  clock.nowMs += 1;
  expect(await rates()).toBe(later);
  expect(readings()).toBe(1);
});

test('nothing stored, or something older: the shipped rates', async () => {
  expect(await setup([]).rates()).toBe(shippedRates);
  expect(await setup([makeRates('2026-07-01')]).rates()).toBe(shippedRates);
});

test('a store that cannot be read: the shipped rates, then those read last; asked again a minute later', async () => {
  const { clock, rates, readings } = setup(new Error('down'), [january], new Error('down'), [january, later]);
  expect(await rates()).toBe(shippedRates);
  clock.nowMs += 59_999;
  expect(await rates()).toBe(shippedRates);
  expect(readings()).toBe(1);
  clock.nowMs += 1;
  expect(await rates()).toBe(january);
  clock.nowMs += 24 * hourMs;
  expect(await rates()).toBe(january);
  clock.nowMs += 60_000;
  expect(await rates()).toBe(later);
  expect(readings()).toBe(4);
});
