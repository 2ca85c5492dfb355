import { expect, test } from 'vitest';
import { inReviewCode, noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { explore, written } from '../../../support/exploration.ts';
import { startMs } from '../../../support/scenario-dispatch.ts';
import { thorough } from '../../../support/thorough.ts';
import { numberOf } from './held-model.ts';
import {
  check,
  checkFinishes,
  firstWorld,
  parkedWorld,
  type Scenario,
  successorsOf,
  type World,
} from './held-space.ts';
import { templateScope } from './slice-run-world.ts';

/**
 * Explores every order of two senders on a held dispatch: any call fails, any run dies, a client cancels. From every
 * world at rest the sweeper's wakes end the dispatch, and all is told once.
 */
const inReview = opened(templateScope, { code: inReviewCode, nowMs: startMs, byReading: true })(noHolds);
const unpaid = opened('waba', { code: '131042', nowMs: startMs - 10_000 })(noHolds);
const due = opened(templateScope, { code: inReviewCode, nowMs: startMs - 10_000, byReading: true })(noHolds);

const approved = { template: 'APPROVED', answer: 'taken' } as const;

const scenarios: readonly (Scenario & {
  readonly name: string;
  readonly first: World;
  /** The dispatch ends so in some world. */
  readonly ends: readonly string[];
  /** At last the platform says and answers so; by default all is well. */
  readonly finally?: Pick<World, 'template' | 'answer'>;
  readonly isLarge?: true;
})[] = [
  {
    name: 'in review, approved meanwhile, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['sent'] },
    first: firstWorld({ holds: inReview, turns: [approved], passesLeft: 0 }),
  },
  {
    name: 'its account cannot pay, a message asks, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['sent'] },
    first: firstWorld({ holds: unpaid, answer: 131042, turns: [approved], passesLeft: 0 }),
  },
  {
    name: 'refused while it is sent, approved, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['sent'] },
    first: firstWorld({ answer: 132001, turns: [approved], passesLeft: 0 }),
  },
  {
    name: 'a reading is due, two ask, one of them slow',
    ...{ mostRuns: 2, atOnce: 2, deathsOnly: true, isLarge: true, ends: ['sent'] },
    first: parkedWorld({ holds: due, faultsLeft: 0 }),
  },
  {
    name: 'parked, and nothing holds it any more, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['sent'] },
    first: parkedWorld({ passesLeft: 0 }),
  },
  {
    name: 'a reading is due, and two ask',
    ...{ mostRuns: 2, atOnce: 2, deathsOnly: true, ends: ['sent'] },
    first: parkedWorld({ holds: due, faultsLeft: 0, passesLeft: 0 }),
  },
  {
    name: 'rejected by its review, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['template_changed'] },
    first: firstWorld({ holds: due, template: 'REJECTED', passesLeft: 0 }),
    finally: { template: 'REJECTED', answer: 132001 },
  },
  {
    name: 'in review for longer than a day, with two senders',
    ...{ mostRuns: 2, atOnce: 2, ends: ['template_in_review'] },
    first: firstWorld({ holds: inReview, passesLeft: 0 }),
    finally: { template: 'PENDING', answer: 132001 },
  },
  {
    name: 'cancelled while it is held, and any call fails',
    ...{ mostRuns: 2, atOnce: 1, ends: ['sent', 'cancelled'] },
    first: firstWorld({ holds: due, template: 'APPROVED', passesLeft: 0, mayCancel: true }),
  },
  {
    name: 'approved, or rejected, read by two',
    ...{ mostRuns: 2, atOnce: 2, deathsOnly: true, isLarge: true, ends: ['sent', 'template_changed'] },
    first: parkedWorld({
      ...{ holds: due, template: 'REJECTED', passesLeft: 0, turns: [approved] },
    }),
  },
];

test.each(scenarios.filter(({ isLarge }) => thorough || !isLarge))(
  'a held dispatch goes on or ends, told once, whatever dies: $name (D46, R14)',
  async ({ first, ends, finally: last = approved, ...scenario }) => {
    const seen = new Set<string>();
    const finished = new Set<string>();
    const states = await explore(first, {
      successorsOf: (world) => successorsOf(world, scenario),
      keyOf: (world) => written({ ...world, runs: world.runs.map((run) => numberOf(run)) }),
      check: async (world) => {
        check(world);
        if (world.runs.length > 0) return;
        const rest = { ...world, ...last, turns: [], started: 0, faultsLeft: 0, passesLeft: 0 };
        if (finished.has(written(rest))) return;
        finished.add(written(rest));
        const { item } = await checkFinishes(rest);
        seen.add(item.stop?.code ?? 'sent');
      },
    });
    if (process.env['TRACE']) process.stderr.write(`${scenario.name}: ${states} states, ${[...seen]}\n`);
    expect([...seen].sort()).toEqual([...ends].sort());
    expect(states).toBeGreaterThan(thorough ? 100 : 30);
  },
  600_000,
);
