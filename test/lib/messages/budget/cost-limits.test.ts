import { describe, expect, test } from 'vitest';
import type { MonthlyBudget } from '../../../../lib/access/directory.ts';
import { monthOf } from '../../../../lib/messages/budget/budgets.ts';
import { costLimitsOf, overBudget, overMaxCost, stopUnits } from '../../../../lib/messages/budget/cost-limits.ts';
import { notifyThresholds } from '../../../../lib/messages/budget/notify-thresholds.ts';
import { reachedThresholds, thresholdEvent } from '../../../../lib/messages/budget/thresholds.ts';
import { unitsOf } from '../../../../lib/pricing/money.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';

const budget: MonthlyBudget = { clientId: 1001, amount: 100, stop: true };

describe('what a send may cost (R57, D58)', () => {
  test('is said by its header, to the eighth decimal, and by the budget of the client that sends', () => {
    const waba = { monthlyBudgets: [{ ...budget, clientId: 1002 }, budget] };
    const did = { waba } as unknown as Parameters<typeof costLimitsOf>[0];
    expect(costLimitsOf(did, 1001, '25.00000001')).toEqual({ maxCostUnits: 2_500_000_001, budget });
    expect(costLimitsOf(did, 1003, undefined)).toEqual({});
    expect(costLimitsOf({ waba: {} } as typeof did, 1001, '0')).toEqual({ maxCostUnits: 0 });
    // Sums of rates are compared in whole units, so that 0.1 and 0.2 are 0.3.
    expect(costLimitsOf(did, 1003, '0.3').maxCostUnits).toBe(unitsOf(0.1) + unitsOf(0.2));
  });

  test('refuses above the amount, and not at it', () => {
    expect(overMaxCost(2_500_000_000, { maxCostUnits: 2_500_000_000 })).toBeUndefined();
    expect(overMaxCost(2_500_000_001, {})).toBeUndefined();
    const refusal = overMaxCost(2_500_000_001, { maxCostUnits: 2_500_000_000 });
    expect(refusal).toMatchObject({
      ...{ code: 'over_max_cost', status: 422 },
      message: 'the send would cost 25.00000001 USD at list prices, Max-Cost is 25.00 USD',
      details: { estimate: { amount: 25.00000001, currency: 'USD' } },
    });
    expect(overBudget(1, 2, budget)).toMatchObject({ code: 'over_budget', status: 422 });
  });

  test('a budget that warns stops nothing, and none stops one-time codes', () => {
    expect(stopUnits(budget, 'MARKETING')).toBe(10_000_000_000);
    expect(stopUnits(budget, 'AUTHENTICATION')).toBeUndefined();
    expect(stopUnits({ ...budget, stop: false }, 'MARKETING')).toBeUndefined();
  });
});

describe('what a month has reached (R57, D58)', () => {
  test.each([
    [7_999_999_999, []],
    [8_000_000_000, [80]],
    [9_999_999_999, [80]],
    [10_000_000_000, [80, 100]],
    [99_000_000_000, [80, 100]],
  ])('of 100 dollars %i units are %j percent', (units, percents) => {
    expect(reachedThresholds(budget, units)).toEqual(percents);
  });

  test('months are those of UTC, and an event is one for client, month and percent, whatever was reached', () => {
    const lastMs = Date.UTC(2026, 10, 30, 23, 59, 59, 999);
    expect([monthOf(lastMs), monthOf(lastMs + 1)]).toEqual(['2026-11', '2026-12']);
    const id = (change: Partial<MonthlyBudget>, percent: 80 | 100, atMs: number, committedUnits = 8_000_000_000) =>
      thresholdEvent({ ...budget, ...change }, { percent, committedUnits, atMs }).id;
    const first = id({}, 80, lastMs);
    expect(id({ amount: 200 }, 80, lastMs - 86_400_000, 9_000_000_000)).toBe(first);
    const others = [id({}, 100, lastMs), id({}, 80, lastMs + 1), id({ clientId: 1002 }, 80, lastMs)];
    expect(new Set([first, ...others]).size).toBe(4);
  });

  test('is told wherever a run dies, at least once and under one id, and not again once that is noted', async () => {
    for (const diesAt of ['of', 'send', 'note', 'after note'] as const) {
      const noted = new Set<number>();
      const events = new MemoryEvents();
      const ports = (dies: boolean) => {
        const step = async <T>(name: typeof diesAt, effect: () => T | Promise<T>): Promise<T> => {
          if (dies && name === diesAt) throw new Error('dead');
          return await effect();
        };
        const note = async (_client: number, _atMs: number, percents: readonly number[]) => {
          await step('note', () => undefined);
          for (const percent of percents) noted.add(percent);
          await step('after note', () => undefined);
        };
        return {
          notified: { of: () => step('of', () => new Set(noted)), note },
          events: { send: (sent: Parameters<MemoryEvents['send']>[0]) => step('send', () => events.send(sent)) },
        };
      };
      const reached = { committedUnits: 8_100_000_000, atMs: Date.UTC(2026, 10, 1) };
      await expect(notifyThresholds(budget, reached, ports(true))).rejects.toThrow('dead');
      await notifyThresholds(budget, { ...reached, committedUnits: 8_200_000_000 }, ports(false));
      expect(new Set(events.sent.map(({ id }) => id)).size).toBe(1);
      const notified = events.sent.length;
      await notifyThresholds(budget, { ...reached, committedUnits: 8_300_000_000 }, ports(false));
      expect(events.sent).toHaveLength(notified);
    }
  });
});
