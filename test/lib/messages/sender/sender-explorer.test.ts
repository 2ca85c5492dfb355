import { expect, test } from 'vitest';
import { explore, written } from '../../../support/exploration.ts';
import { thorough } from '../../../support/thorough.ts';
import { check, checkFinishes, firstWorld, type Scenario, successorsOf, type World } from './sender-space.ts';

/**
 * Explores every order of two senders on one dispatch: a finishing run and its successor, or the parts of a fast number.
 * Any call may fail or land late, any run may die, and a cancellation may come between.
 */
const scenarios: readonly (Scenario & {
  readonly name: string;
  readonly isLarge?: true;
  readonly bounds: Pick<World, 'faultsLeft' | 'passesLeft' | 'mayStop'>;
})[] = [
  {
    name: 'one recipient, two senders',
    ...{ total: 1, parts: 1, answers: ['taken', 'silence'], mostRuns: 2 },
    bounds: { faultsLeft: 1, passesLeft: 0, mayStop: false },
  },
  {
    name: 'one recipient that is tried again',
    ...{ total: 1, parts: 1, answers: ['again', 'taken'], mostRuns: 1 },
    bounds: { faultsLeft: 2, passesLeft: 2, mayStop: false },
  },
  {
    name: 'one that is tried again, of two senders',
    ...{ total: 1, parts: 1, answers: ['again', 'taken'], mostRuns: 3, deathsOnly: true, besideRunsMs: 40_000 },
    isLarge: true,
    bounds: { faultsLeft: 0, passesLeft: 1, mayStop: false },
  },
  {
    name: 'a recipient that is refused beside one that is tried again',
    ...{ total: 2, parts: 1, answersToFirst: ['refused'], answers: ['again', 'taken'], mostRuns: 2, deathsOnly: true },
    bounds: { faultsLeft: 1, passesLeft: 1, mayStop: false },
  },
  {
    name: 'one recipient, cancelled',
    ...{ total: 1, parts: 1, answers: ['taken'], mostRuns: 2, deathsOnly: true },
    isLarge: true,
    bounds: { faultsLeft: 1, passesLeft: 0, mayStop: true },
  },
  {
    name: 'a slice for each of two parts',
    ...{ total: 11, parts: 2, answers: ['taken'], mostRuns: 2, deathsOnly: true },
    bounds: { faultsLeft: 1, passesLeft: 0, mayStop: false },
  },
];

test.each(scenarios.filter(({ isLarge }) => thorough || !isLarge))(
  'nothing is called twice, lost or told too early: $name (R13, R14, D41, D53)',
  async (scenario) => {
    const { bounds } = scenario;
    let finished = 0;
    const states = await explore(firstWorld(scenario, bounds), {
      successorsOf: (world) => successorsOf(world, scenario),
      keyOf: written,
      check: async (world) => {
        check(world);
        if (world.runs.length > 0 || world.late.length > 0) return;
        finished += 1;
        await checkFinishes(world, scenario);
      },
    });
    if (process.env['TRACE']) process.stderr.write(`${scenario.name}: ${states} states, ${finished} at rest\n`);
    expect(finished).toBeGreaterThan(1);
  },
  600_000,
);
