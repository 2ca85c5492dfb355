import { expect, test } from 'vitest';
import {
  type Holding,
  halfOf,
  isShared,
  type Leased,
  nextStep,
  nothingHeld,
  sawOtherUser,
  withLease,
  withLook,
  withoutOne,
} from '../../../../lib/access/budget/lease.ts';
import { explore, type Space, type Step } from '../../../support/exploration.ts';

/**
 * Explores every order in which two processes serve two users of one client in a minute, by the rule alone (D54). A
 * process may miss the users of the minute before. Leases are of one request; leased-budget.test.ts has larger ones.
 */

const users = ['ana', 'ben'] as const;
type User = (typeof users)[number];
type Counts = Readonly<Record<User, number>>;

interface Process {
  readonly held: Readonly<Partial<Record<User, Holding>>>;
  /** The request of `waiting` waits for the counter; `asks` holds the calls that it has made. */
  readonly waiting?: User;
  readonly asks?: readonly string[];
}

interface World {
  /** `before` holds each user's leases of the minute before, `leased` those of this minute. */
  readonly before: Counts;
  readonly leased: Counts;
  readonly allowed: Counts;
  readonly processes: readonly [Process, Process];
  readonly broken?: string;
}

const noCounts: Counts = { ana: 0, ben: 0 };
const countsOf = (counts: Counts, user: User): Leased => ({ all: counts.ana + counts.ben, own: counts[user] });
const sees = (counts: Counts, user: User) => isShared(countsOf(counts, user));
const plusOne = (counts: Counts, user: User): Counts => ({ ...counts, [user]: counts[user] + 1 });

/** Any users may have been active before; a process knows all of them or none. */
function* starts(): Generator<World> {
  for (const before of [noCounts, { ana: 1, ben: 0 }, { ana: 0, ben: 1 }, { ana: 2, ben: 1 }]) {
    const memory = new Map(
      users
        .filter((user) => before[user] > 0)
        .map((user) => [user, { ...nothingHeld, leased: countsOf(before, user) }] as const),
    );
    const fresh = (user: User) => ({ ...nothingHeld, company: sawOtherUser(memory, user) });
    const knowing: Process = { held: { ana: fresh('ana'), ben: fresh('ben') } };
    for (const processes of [
      [{ held: {} }, { held: {} }],
      [knowing, { held: {} }],
      [knowing, knowing],
    ] as const) {
      yield { before, leased: noCounts, allowed: noCounts, processes };
    }
  }
}

const holdingOf = ({ held }: Process, user: User): Holding => held[user] ?? nothingHeld;
const holds = (process: Process, user: User, holding: Holding): Process => ({
  ...process,
  held: { ...process.held, [user]: holding },
});

function withProcess(world: World, at: number, process: Process): World {
  const [first, second] = world.processes;
  return { ...world, processes: at === 0 ? [process, second] : [first, process] };
}

/** A process decides its request, or waits for the counter. */
function goOn(world: World, at: number, process: Process, limit: number): World {
  const { waiting, asks = [], ...free } = process;
  const user = waiting as User;
  const holding = holdingOf(process, user);
  const step = nextStep(holding, limit);
  if (step.do === 'refuse') return refusal(withProcess(world, at, free), user, limit);
  if (step.do !== 'allow') {
    const asked = [...asks, step.do];
    const waits = withProcess(world, at, { ...process, asks: asked });
    // A request makes one call, but for a user who is alone and has half of the budget already, which the process may
    // not know.
    return 'lease,look,lease'.includes(asked.join()) ? waits : { ...waits, broken: `a request asks for ${asked}` };
  }
  const allowed = plusOne(world.allowed, user);
  return permission(withProcess({ ...world, allowed }, at, holds(free, user, withoutOne(holding))), user, limit);
}

/** The counter answers the waiting process. */
function answered(world: World, at: number, process: Process, limit: number): World {
  const user = process.waiting as User;
  const holding = holdingOf(process, user);
  const step = nextStep(holding, limit);
  if (step.do === 'look') {
    return goOn(world, at, holds(process, user, withLook(holding, countsOf(world.before, user))), limit);
  }
  if (step.do !== 'lease') throw new Error(`waits to ${step.do}`);
  const now = countsOf(world.leased, user);
  const added = now.own + step.size <= halfOf(limit) || (step.evenAll && !isShared(now));
  const leased = added ? plusOne(world.leased, user) : world.leased;
  const told = withLease(holding, step.size, { added, leased: countsOf(leased, user) }, limit);
  return goOn({ ...world, leased }, at, holds(process, user, told), limit);
}

function permission(world: World, user: User, limit: number): World {
  const { all, own } = countsOf(world.allowed, user);
  if (all > limit) return { ...world, broken: `more than ${limit} are let through` };
  const isBeside = sees(world.before, user) || sees(world.leased, user);
  return isBeside && own > halfOf(limit) ? { ...world, broken: `${user} has more than half beside another` } : world;
}

function refusal(world: World, user: User, limit: number): World {
  const { all, own } = countsOf(world.allowed, user);
  const isBeside = sees(world.before, user) || sees(world.leased, user);
  if (all < limit && !(isBeside && own >= halfOf(limit))) {
    return { ...world, broken: `${user} is refused though something is left` };
  }
  // A user whose requests were all refused in the minute before still has a share now.
  if (world.before[user] > 0 && own < limit - halfOf(limit)) {
    return { ...world, broken: `${user} was seen in the minute before, and is refused a share` };
  }
  return world;
}

function spaceOf(limit: number): Space<World> {
  return {
    successorsOf: async (world) =>
      world.processes.flatMap((process, at): Step<World>[] => {
        const { waiting } = process;
        if (waiting !== undefined) {
          return [{ does: `the counter answers process ${at}`, state: answered(world, at, process, limit) }];
        }
        return users.map((user) => ({
          does: `process ${at} serves ${user}`,
          state: goOn(world, at, { ...process, waiting: user }, limit),
        }));
      }),
    keyOf: ({ processes, ...world }) => JSON.stringify([world, processes.map((each) => JSON.stringify(each)).sort()]),
    check: ({ broken }) => {
      if (broken !== undefined) throw new Error(broken);
    },
  };
}

test.each([1, 2, 3, 4, 5, 6])('a budget of %i is kept, shared and used up', async (limit) => {
  let worlds = 0;
  for (const start of starts()) worlds += await explore(start, spaceOf(limit));
  expect(worlds).toBeGreaterThan(800 * limit);
});
