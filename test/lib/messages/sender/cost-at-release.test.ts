import { expect, test } from 'vitest';
import type { MonthlyBudget } from '../../../../lib/access/directory.ts';
import type { Raise } from '../../../../lib/messages/budget/budgets.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { costStop } from '../../../../lib/messages/sender/cost-at-release.ts';
import { shippedRates } from '../../../../lib/pricing/rates.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../../../support/directory.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { makeRates } from '../../../support/rates.ts';

/** Ten messages to Argentina cost 0.26 as utility and 0.618 as marketing, when they were accepted (D56). */

const acceptedAtMs = Date.parse('2026-12-30T12:00:00Z');
const plan = { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] };
const dearer = makeRates('2027-01-01', { Argentina: { utility: 0.05 } });

interface Case {
  readonly maxCost?: number;
  readonly category?: string;
  readonly accepted?: string;
  readonly queued?: number;
  readonly erased?: number;
  readonly stopped?: number;
  readonly atMs?: number;
  readonly budget?: Partial<MonthlyBudget>;
  readonly isOver?: true;
}

async function judged(given: Case) {
  const { maxCost, category = 'MARKETING', accepted = 'UTILITY', queued = 0, erased = 0, stopped = 0 } = given;
  const { atMs = acceptedAtMs + 3_600_000, budget, isOver } = given;
  const head: DispatchHead = {
    ...makeDispatchHead({ total: 10, acceptedAtMs, category: accepted }),
    ...(maxCost === undefined ? {} : { maxCostUnits: Math.round(maxCost * 1e8) }),
  };
  const to = Array.from({ length: 10 }, (_, index) => String(5_491_155_550_000 + index));
  const recipients = to.map((each, index) => (index < erased ? {} : { to: each }));
  const monthlyBudgets = budget && [{ clientId: 1001, amount: 1, stop: true, ...budget }];
  const raises: Raise[] = [];
  let reads = 0;
  const stop = await costStop(
    {
      dispatch: { head, plan, repeats: [], waitsMs: new Map() },
      head: { ...head, category, ...(category === 'MARKETING' ? { heedsOptOuts: true as const } : {}) },
      rests: [{ from: queued, until: 10 }],
    },
    {
      rates: async () => [shippedRates, dearer],
      optOuts: {
        anyFor: async () => stopped > 0,
        stoppedAmong: async () => new Map(to.slice(10 - stopped).map((each) => [each, 'stopped'])) as never,
      },
      budgets: {
        raise: async (raise) => {
          raises.push(raise);
          return isOver ? { kind: 'over', committedUnits: 90_000_000 } : { kind: 'raised' };
        },
      },
      directory: memoryDirectory({
        channels: [makeChannel()],
        wabas: [makeWaba(monthlyBudgets && { monthlyBudgets })],
      }),
      dispatches: {
        recipientsFrom: async (_, from) => {
          reads += 1;
          return recipients.slice(from, from + 4);
        },
      },
      nowMs: () => atMs,
    },
  );
  return { stop, raises, reads };
}

test.each<[string, Case, string | undefined, number]>([
  ['marketing now', { maxCost: 0.3 }, 'over_max_cost', 0.618],
  ['marketing now, at the ceiling', { maxCost: 0.618 }, undefined, 0.618],
  ['half has left as utility', { maxCost: 0.439, queued: 5 }, undefined, 0.439],
  ['half has left, and it is over', { maxCost: 0.4389, queued: 5 }, 'over_max_cost', 0.439],
  ['one who has opted out meanwhile costs nothing', { maxCost: 0.5562, stopped: 1 }, undefined, 0.5562],
  ['one who was erased costs nothing', { maxCost: 0.5562, erased: 1 }, undefined, 0.5562],
  ['cheaper now', { maxCost: 0.618, accepted: 'MARKETING', category: 'UTILITY' }, undefined, 0.26],
  ['new prices', { maxCost: 0.4, category: 'UTILITY', atMs: dateOf('2027-01-01') }, 'over_max_cost', 0.5],
  ['without a ceiling', {}, undefined, 0.618],
])('what changed is judged again: %s (D56)', async (_, given, code, cost) => {
  const { stop, raises } = await judged(given);
  const [units] = [Math.round(cost * 1e8)];
  if (code === undefined) {
    expect(stop).toBeUndefined();
    expect(raises).toMatchObject([{ units, category: given.category ?? 'MARKETING' }]);
    return;
  }
  const reason = expect.stringContaining(`the send would cost ${cost.toFixed(3).replace(/0$/, '')}`);
  expect([stop, raises]).toEqual([{ state: 'failed', code, reason }, []]);
});

test('while category and prices are the same, nothing is read', async () => {
  const same = await judged({ maxCost: 0.01, category: 'UTILITY', atMs: dateOf('2026-12-31') });
  expect(same).toEqual({ stop: undefined, raises: [], reads: 0 });
});

test.each([
  ['stops', { stop: true }, 100_000_000, 'over_budget'],
  ['only warns', { stop: false }, undefined, undefined],
] as const)('a budget that %s reserves the difference (D56, D58)', async (_, budget, limitUnits, code) => {
  const { stop, raises } = await judged({ budget, ...(code === undefined ? {} : { isOver: true }) });
  expect(raises).toEqual([expect.objectContaining({ clientId: 1001, units: 61_800_000, limitUnits })]);
  const reason = expect.stringContaining('of the monthly budget of 1.00 USD, 0.90 USD are spent or reserved');
  expect(stop).toEqual(code === undefined ? undefined : { state: 'failed', code, reason });
});

function dateOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`);
}
