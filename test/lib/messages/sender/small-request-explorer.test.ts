import { expect, test } from 'vitest';
import { explore, written } from '../../../support/exploration.ts';
import { thorough } from '../../../support/thorough.ts';
import {
  check,
  checkEnds,
  firstWorld,
  isAtRest,
  type Scenario,
  successorsOf,
  type World,
} from './small-request-space.ts';

/**
 * Explores every order of acceptance, two workers that have one queue message, and the number's sender. Calls fail, land
 * late or lose their replies, runs die, and claims get old.
 */
const all = { total: 1, parts: 1, placed: [true, false], held: [true, false], deathsOnly: true } as const;
const scenarios: readonly (Scenario & {
  readonly name: string;
  readonly isLarge?: true;
  readonly acceptance?: World['acceptance'];
  readonly bounds: Pick<World, 'faultsLeft' | 'passesLeft'>;
})[] = [
  {
    name: 'acceptance and a worker',
    ...{ ...all, answers: ['taken', 'again'], mostWorkers: 1, mostRuns: 0 },
    bounds: { faultsLeft: 2, passesLeft: 0 },
  },
  {
    name: 'acceptance withdraws beside a worker and a sender',
    ...{ ...all, answers: ['taken'], mostWorkers: 1, mostRuns: 1 },
    acceptance: 'withdraws',
    bounds: { faultsLeft: 1, passesLeft: 0 },
  },
  {
    name: 'two workers',
    ...{ ...all, answers: ['taken', 'again', 'silence'], mostWorkers: 2, mostRuns: 0 },
    acceptance: 'begins',
    bounds: { faultsLeft: 1, passesLeft: 1 },
  },
  {
    name: 'a claim that looks dead, and its late end',
    ...{ ...all, placed: [true], held: [false], answers: ['again'], mostWorkers: 2, mostRuns: 0 },
    acceptance: 'accepted',
    bounds: { faultsLeft: 2, passesLeft: 1 },
  },
  {
    name: 'two workers and a sender',
    ...{ ...all, held: [false], answers: ['taken', 'again'], mostWorkers: 2, mostRuns: 1 },
    acceptance: 'accepted',
    isLarge: true,
    bounds: { faultsLeft: 1, passesLeft: 1 },
  },
];

test.each(scenarios.filter(({ isLarge }) => thorough || !isLarge))(
  'a small request is never called twice, never lost, and a 502 is true: $name (R13, R14, R20, D25, D44)',
  async (scenario) => {
    let ends = 0;
    const states = await explore(firstWorld(scenario, scenario.bounds, scenario.acceptance), {
      successorsOf: (world) => successorsOf(world, scenario),
      keyOf: written,
      check: async (world) => {
        check(world);
        if (!isAtRest(world)) return;
        ends += 1;
        await checkEnds(world, scenario);
      },
    });
    if (process.env['TRACE']) process.stderr.write(`${scenario.name}: ${states} states, ${ends} at rest\n`);
    expect(ends).toBeGreaterThan(10);
  },
  600_000,
);
