import { expect, test } from 'vitest';
import { clocksApartMs } from '../../../lib/aws/leased-run.ts';
import { explore } from '../../support/exploration.ts';
import type { Call } from '../../support/replayed-run.ts';
import { thorough } from '../../support/thorough.ts';
import { type CallName, type Entry, effectOf, type Message, type Run, standingOf } from './leased-run-model.ts';
import { keyOf, over, type Scenario, successorsOf, type World, withReply, withRunOf } from './leased-run-space.ts';

/**
 * Explores every order of two runs of one key: what is put, wakes that are lost, doubled or late, deaths at each step,
 * late writes, stalls, and clocks that differ by five seconds.
 */
const startMs = 1_800_000_000_000;

/** A sender outlives its lease; a receiver's holder is bounded, and its own messages start another run. */
const long = { leasing: { leaseMs: 25_000, renewMs: 10_000 }, aheadMs: [0] };
const short = { leasing: { leaseMs: 40_000 }, aheadMs: [0] };
const entry = (name: string, inMs = 0): Entry => ({ name, dueMs: startMs + inMs });
type Bounds = Pick<World, 'runsLeft' | 'faultsLeft' | 'stallsLeft'>;

const scenarios: readonly (Scenario & {
  readonly name: string;
  /** A client puts these into the list, and sends a wake for each. */
  readonly untold?: readonly Entry[];
  /** These are in the list already, and a wake is in the queue. */
  readonly listed?: readonly Entry[];
  /** Messages bring these to their runs. */
  readonly brought?: readonly Entry[];
  readonly bounds: Bounds;
  /** The quick run takes a second or two within these bounds. */
  readonly quick?: Partial<Bounds>;
})[] = [
  {
    name: 'two entries and their wakes',
    ...long,
    untold: [entry('A'), entry('B')],
    bounds: { runsLeft: 2, faultsLeft: 1, stallsLeft: 0 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'an entry, and clocks that are apart',
    ...long,
    aheadMs: [0, clocksApartMs],
    untold: [entry('A')],
    bounds: { runsLeft: 2, faultsLeft: 0, stallsLeft: 1 },
  },
  {
    name: 'an entry that waits, a death or a late write, a stall, and clocks that are apart',
    ...long,
    aheadMs: [0, clocksApartMs],
    listed: [entry('A')],
    bounds: { runsLeft: 2, faultsLeft: 1, stallsLeft: 1 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'an entry for later, and clocks that are apart',
    ...long,
    aheadMs: [0, clocksApartMs],
    untold: [entry('A', 30_000)],
    bounds: { runsLeft: 3, faultsLeft: 1, stallsLeft: 0 },
  },
  {
    name: 'a run whose time is over after one claim, and that ends it beside its successor',
    ...long,
    leavesEarly: true,
    listed: [entry('A'), entry('B')],
    bounds: { runsLeft: 2, faultsLeft: 1, stallsLeft: 0 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'a long run that stalls between its claims',
    ...long,
    listed: [entry('A'), entry('B')],
    bounds: { runsLeft: 2, faultsLeft: 0, stallsLeft: 1 },
  },
  {
    name: 'wakes that are lost, and the sweeper',
    ...long,
    sweeps: true,
    listed: [entry('A'), entry('B', 40_000)],
    bounds: { runsLeft: 2, faultsLeft: 1, stallsLeft: 0 },
  },
  {
    name: 'two entries that their runs bring',
    ...short,
    brought: [entry('A'), entry('B')],
    bounds: { runsLeft: 2, faultsLeft: 1, stallsLeft: 0 },
    quick: { faultsLeft: 0 },
  },
  {
    name: 'an entry whose message comes twice, and the first run dies',
    ...short,
    brought: [entry('A')],
    bounds: { runsLeft: 2, faultsLeft: 2, stallsLeft: 0 },
    quick: { faultsLeft: 1 },
  },
  {
    name: 'two that are brought for later, one sooner, and clocks that are apart',
    ...short,
    aheadMs: [0, clocksApartMs],
    brought: [entry('A', 60_000), entry('B', 20_000)],
    bounds: { runsLeft: 4, faultsLeft: 0, stallsLeft: 0 },
  },
];

test.each(scenarios)(
  '$name: what is put is worked off by one run at a time, or waits with a wake, whatever dies',
  { timeout: 900_000 },
  async ({ untold = [], listed = [], brought = [], bounds, quick, ...scenario }) => {
    const bodies: Pick<Message, 'puts'>[] = [
      ...brought.map((puts) => ({ puts })),
      ...listed.slice(0, 1).map(() => ({})),
    ];
    const messages = bodies.map((body, id): Message => ({ id, ...body, visibleAtMs: startMs, held: false }));
    const first: World = {
      ...{ messages, nextId: messages.length, list: listed, claimed: [], nowMs: startMs, runs: [], late: [], untold },
      ...{ owesWake: false, started: 0, ...bounds, ...(thorough ? {} : quick) },
    };
    const names = [...untold, ...listed, ...brought].map(({ name }) => name).sort();
    let ends = 0;
    const states = await explore(first, {
      successorsOf: (world) => successorsOf(world, scenario),
      keyOf,
      check: async (world, before) => {
        await checkOneHolder(world, { before, stalls: first.stallsLeft - world.stallsLeft, scenario });
        if (world.runs.length > 0 || world.late.length > 0) return;
        if (JSON.stringify(world.claimed) === JSON.stringify(names)) ends += 1;
        await checkRest(world, names, { ...scenario, isWell: world.faultsLeft === first.faultsLeft });
      },
    });
    expect(ends).toBeGreaterThan(5);
    expect(states).toBeGreaterThan(200);
  },
);

/** A run claims only under its lease; others end what they have claimed. */
async function checkOneHolder(
  world: World,
  { before, stalls, scenario }: { readonly before: World; readonly stalls: number; readonly scenario: Scenario },
): Promise<void> {
  let claiming = 0;
  for (const run of world.runs) {
    const claim = await claimOf(run, scenario);
    if (claim === undefined) continue;
    claiming += 1;
    const earlier = before.runs.find(({ name }) => name === run.name);
    if (earlier !== undefined && (await claimOf(earlier, scenario))?.number === claim.number) continue;
    if (world.item?.lease?.owner !== claim.args[1])
      throw new Error(`${run.name} claims under the lease of another run`);
  }
  if (claiming > 1 + stalls) throw new Error('two runs claim, and no lease was lost');
}

async function claimOf(run: Run, scenario: Scenario): Promise<Call<CallName> | undefined> {
  if (run.ended !== undefined) return undefined;
  return (await standingOf(run, scenario)).open.find(({ name }) => name === 'claim');
}

/** Without a run: what waits has a wake, a dead run's lease too and soon, and once nothing fails all is worked off. */
async function checkRest(
  world: World,
  names: readonly string[],
  { isWell, ...scenario }: Scenario & { readonly isWell: boolean },
): Promise<void> {
  const { list, messages, item, owesWake } = world;
  const { leaseMs, renewMs } = scenario.leasing;
  if (scenario.sweeps) return;
  if (list.length > 0 && messages.length === 0 && !owesWake) throw new Error('what is put waits, and no wake comes');
  for (const { dueMs } of isWell && !owesWake ? list : []) {
    const lastMs = Math.max(dueMs, world.nowMs) + clocksApartMs + 1_000;
    if (!messages.some(({ visibleAtMs }) => visibleAtMs <= lastMs)) throw new Error('a wake comes too late');
  }
  // A dead long run is found by the wake that it has queued for its death, not only by its own message.
  const isDead = item?.lease !== undefined && renewMs !== undefined && !owesWake;
  const foundMs = world.nowMs + (isDead ? leaseMs + 3 * clocksApartMs : Number.POSITIVE_INFINITY);
  const due = list.filter(({ dueMs }) => dueMs <= world.nowMs);
  for (const aheadMs of scenario.aheadMs) {
    let next: World = { ...world, faultsLeft: 0, stallsLeft: 0 };
    for (let turn = 0; next.messages.length + next.untold.length > 0 || next.owesWake; turn += 1) {
      if (turn > 30) throw new Error('wakes go on for ever');
      const before = next;
      next = await nextRun(before, aheadMs, scenario);
      if (next.nowMs > foundMs && due.some((each) => before.list.includes(each)))
        throw new Error('a dead run is found by no wake');
    }
    if (JSON.stringify(next.claimed) !== JSON.stringify(names)) throw new Error('what is put is forgotten');
  }
}

/** The next message that becomes visible starts a run, which meets no fault. */
async function nextRun(world: World, aheadMs: number, scenario: Scenario): Promise<World> {
  const told = (await successorsOf({ ...world, runsLeft: 0 }, scenario)).find(({ does }) => /put|is sent/.test(does));
  if (told !== undefined) return told.state;
  const nowMs = Math.max(world.nowMs, Math.min(...world.messages.map(({ visibleAtMs }) => visibleAtMs)));
  const message = world.messages.find(({ visibleAtMs }) => visibleAtMs <= nowMs) as Message;
  let next = withRunOf({ ...world, nowMs }, message, aheadMs);
  let run = next.runs[0] as Run;
  while (run.ended === undefined) {
    const [call] = (await standingOf(run, scenario)).open as [Call<CallName>];
    const { store, value } = effectOf(next, call, nowMs);
    run = await withReply(run, call, { value }, { world: next, policy: scenario });
    next = store;
  }
  return over({ ...next, runs: [] }, run);
}
