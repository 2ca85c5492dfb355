import { expect, test } from 'vitest';
import { explore } from '../../../support/exploration.ts';
import { startMs } from '../../../support/scenario-dispatch.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import type { Scenario } from './rounds-model.ts';
import { check, checkFinished, firstState, keyOf, successorsOf } from './rounds-space.ts';

/**
 * Explores every order of two fan-out runs on one dispatch's messages, with faults, lost messages, needless wakes, and
 * cancellation or pause at any moment. Nothing depends on message ids, so a redrive equals a repeated delivery.
 */
const writes = ['list', 'take', 'announce', 'sendBatch', 'end', 'sendAgain', 'watch', 'handOver'] as const;

const always = [startMs, startMs + 86_400_000] as const;
/** This lot opens while the explored time passes. */
const soon = [startMs + 40_000, startMs + 86_400_000] as const;

const scenarios: readonly (Scenario & {
  readonly name: string;
  readonly bounds: { readonly faultsLeft: number; readonly deliveriesLeft: number };
})[] = [
  {
    name: 'two rounds of a wave',
    ...{ total: 20, limitPerSecond: 0.015, losesMessages: true, late: writes },
    bounds: { faultsLeft: 1, deliveriesLeft: 3 },
  },
  {
    name: 'a round of two waves',
    ...{ total: 20, limitPerSecond: 1, late: writes },
    bounds: { faultsLeft: 2, deliveriesLeft: 2 },
  },
  {
    name: 'a wave of two requests',
    ...{ total: 20, limitPerSecond: 2.22, late: writes },
    bounds: { faultsLeft: 2, deliveriesLeft: 2 },
  },
  {
    name: 'a round of two waves, cancelled',
    ...{ total: 20, limitPerSecond: 1, mayStop: true, losesMessages: true, late: writes },
    bounds: { faultsLeft: 1, deliveriesLeft: 2 },
  },
  {
    name: 'two rounds of a wave, parked',
    ...{ total: 20, limitPerSecond: 0.015, mayPark: true },
    bounds: { faultsLeft: 1, deliveriesLeft: 2 },
  },
  {
    name: 'lots that are over, open later and are open',
    ...{ total: 30, limitPerSecond: 1, late: writes },
    lots: [
      { until: 10, open: [] },
      { until: 20, open: [soon] },
      { until: 30, open: [always] },
    ],
    bounds: { faultsLeft: 1, deliveriesLeft: 3 },
  },
  {
    name: 'lots of which one is over, cancelled',
    ...{ total: 20, limitPerSecond: 1, mayStop: true, late: writes },
    lots: [
      { until: 10, open: [] },
      { until: 20, open: [always] },
    ],
    bounds: { faultsLeft: 1, deliveriesLeft: 2 },
  },
];

test.each(firstUnlessThorough(scenarios))(
  '$name: no recipient is lost, and no two runs queue side by side (R14, D25, D40, D53)',
  { timeout: 900_000 },
  async (scenario) => {
    const met = new Set<string>();
    let ends = 0;
    const states = await explore(firstState(scenario.bounds), {
      successorsOf: (state) => successorsOf(state, scenario, met),
      keyOf,
      check: async (state) => {
        await check(state, scenario);
        if (state.runs.length > 0 || state.late.length > 0 || state.deliveriesLeft > 0) return;
        ends += 1;
        await checkFinished(state, scenario);
      },
    });
    // An exploration that reaches too little must fail: rounds were held, over, and lost to another run.
    expect([states > 3_000, ends > 20]).toEqual([true, true]);
    const inEach = ['take {"kind":"held","u', 'take {"kind":"over"}', 'announce undefined', 'handOver false'];
    expect([...met]).toEqual(expect.arrayContaining([...inEach, ...(scenario.mayStop ? ['end undefined'] : [])]));
  },
);
