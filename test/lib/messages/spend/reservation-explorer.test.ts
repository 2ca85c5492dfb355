import { expect, test } from 'vitest';
import type { DispatchReservation, Raise } from '../../../../lib/messages/budget/budgets.ts';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { type DispatchItem, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import type { Recorded, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { cancelDispatch } from '../../../../lib/messages/report/cancel.ts';
import type { DescribedDispatch } from '../../../../lib/messages/report/described-dispatch.ts';
import type { WrittenMessages } from '../../../../lib/messages/report/outcome.ts';
import { countDispatches } from '../../../../lib/messages/spend/count-dispatches.ts';
import type { CountStep } from '../../../../lib/messages/spend/count-step.ts';
import type { Statement } from '../../../../lib/messages/spend/statement.ts';
import { explore, partNumbers, type Step } from '../../../support/exploration.ts';
import { begunItem, writtenByName } from '../../../support/messages-table/dispatch-item.ts';
import { type Call, type Outside, type Reply, standingAfter } from '../../../support/replayed-run.ts';
import { shippedKnownRates } from '../../../support/reported-dispatches.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import { MemoryLedger } from './memory-ledger.ts';

/**
 * Explores every order in which a scheduled dispatch of a client with a budget is released, claimed, cancelled and
 * counted, while runs die, are repeated, and lose replies. Ten recipients may be claimed; one never is.
 */

const [utility, marketing] = [2_600_000, 6_180_000];
const head = { ...scenarioHead, total: 11, category: 'UTILITY', receiptsExpected: true as const };
const { dispatchId } = head;
const addresses = Array.from({ length: head.total }, (_, index) => String(5_491_155_550_000 + index));

type RunKind = 'cancellation' | 'count' | 'release' | 'worker';

interface Run {
  readonly kind: RunKind;
  readonly replies: readonly Reply[];
  readonly isOver: boolean;
}

interface World {
  readonly dispatch: DispatchItem;
  readonly slice?: Slice;
  /** A worker has seen the dispatch unstopped after its claim, so it calls. */
  readonly called?: true;
  readonly reserved: DispatchReservation;
  readonly statement?: Statement;
  readonly committed: number;
  readonly queued?: true;
  readonly runs: readonly Run[];
  readonly faultsLeft: number;
}

/** A cancelled dispatch keeps what has been claimed, once a cancellation has ended. */
const isCancelled = ({ runs }: World) => runs.some(({ kind, isOver }) => kind === 'cancellation' && isOver);
const priceOf = ({ reserved }: World) => (reserved.category === 'MARKETING' ? marketing : utility);

/** Returns how many messages may still leave, or have left. */
function possible({ dispatch, called }: World): number {
  if (dispatch.stop === undefined) return 11;
  return called ? 10 : 0;
}

async function running(kind: RunKind, { call, nowMs }: Outside<string>): Promise<'over'> {
  const ledger = { read: call('read'), readMessages: call('messages'), write: call('write') };
  const count = () => countDispatches([dispatchId], { ledger, rates: shippedKnownRates, nowMs, readsSlices: true });
  if (kind === 'count') await count();
  if (kind === 'cancellation') {
    const dispatch = (await call('read')(dispatchId)) as { readonly dispatch: DescribedDispatch };
    const of = call('of') as () => Promise<DispatchItemState>;
    const states = { stop: call('stop'), of: async () => new Map([[dispatchId, await of()]]) };
    const report = { findDescribed: call('read'), readMessages: call('messages'), reckon: call('reckon') };
    const log = () => undefined;
    await cancelDispatch(
      { report, states, wakeNumber: async () => undefined, countNow: count, rates: shippedKnownRates, nowMs, log },
      dispatch.dispatch,
    );
  }
  if (kind === 'release') {
    const raise: Raise = { clientId: 1001, dispatchId, units: 11 * marketing, category: 'MARKETING' };
    await call('raise')(raise);
    const seen = (await call('of')()) as DispatchItemState;
    if (seen.stop === undefined) await call('queue')();
  }
  if (kind === 'worker') {
    await call('claim')();
    const seen = (await call('look')()) as DispatchItemState;
    await call('end')(seen.stop === undefined ? { state: 'sent' } : { state: 'failed', code: 'cancelled' });
  }
  return 'over';
}

function ledgerOf({ dispatch, slice, reserved, statement }: World): MemoryLedger {
  const ledger = new MemoryLedger();
  ledger.add(head, addresses, { state: stateOf(dispatch), reserved });
  if (statement !== undefined) ledger.statements.set(dispatchId, statement);
  if (slice !== undefined) ledger.slices.set(0, slice);
  return ledger;
}

/** A raise refuses a stopped dispatch, as its store does; without that the exploration is red. */
async function effectOf(world: World, { name, args }: Call, atMs: number): Promise<{ after: World; value?: unknown }> {
  const ledger = ledgerOf(world);
  const { dispatch, slice } = world;
  switch (name) {
    case 'read':
      return { after: world, value: await ledger.read(dispatchId) };
    case 'messages': {
      const value: WrittenMessages = { ...(await ledger.readMessages(head)), askedAtMs: atMs };
      return { after: world, value };
    }
    case 'write': {
      const value = await ledger.write(args[0] as CountStep);
      const added = [...ledger.months.values()].reduce((sum, by) => sum + by, 0);
      const statement = ledger.statements.get(dispatchId);
      return { after: { ...world, committed: world.committed + added, ...(statement && { statement }) }, value };
    }
    case 'stop':
    case 'reckon': {
      const { item = {}, value } = writtenByName(name, dispatch, args);
      return { after: { ...world, dispatch: item }, value };
    }
    case 'of':
      return { after: world, value: stateOf(dispatch) };
    case 'look':
      return { after: dispatch.stop === undefined ? { ...world, called: true } : world, value: stateOf(dispatch) };
    case 'raise': {
      const { units, category } = args[0] as Raise;
      if (dispatch.stop !== undefined || world.reserved.units >= units) return { after: world };
      const committed = world.committed + units - world.reserved.units;
      return { after: { ...world, reserved: { units, category }, committed } };
    }
    case 'queue':
      return { after: { ...world, queued: true } };
    case 'claim': {
      const claimed = {
        key: { dispatchId, slice: 0 },
        try: 0,
        version: 1,
        owner: 'w',
        atMs,
        state: 'claimed',
      } as const;
      return { after: { ...world, slice: { ...claimed, outcomes: Array(10).fill(undefined) } } };
    }
    case 'end': {
      const outcomes = Array<Recorded>(10).fill(args[0] as Recorded);
      return { after: { ...world, slice: { ...(slice as Slice), version: 2, state: 'ended', outcomes } } };
    }
    default:
      throw new Error(`${name} is no call`);
  }
}

const numberOf = partNumbers();
const standings = new Map<number, ReturnType<typeof standingAfter<'over'>>>();

/** A run's state depends only on its kind and its replies. */
function standingOf(run: Run): ReturnType<typeof standingAfter<'over'>> {
  const number = numberOf(run);
  const known = standings.get(number) ?? standingAfter((outside) => running(run.kind, outside), startMs, run.replies);
  standings.set(number, known);
  return known;
}

async function successorsOf(world: World): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  for (const [at, run] of world.runs.entries()) {
    if (run.isOver || (run.kind === 'worker' && !world.queued)) continue;
    const withRun = (base: World, next: Partial<Run>, less = 0): World => ({
      ...base,
      runs: base.runs.with(at, { ...run, ...next }),
      faultsLeft: base.faultsLeft - less,
    });
    const { open, end } = await standingOf(run);
    const of = `run ${at}, a ${run.kind},`;
    if (end !== undefined) {
      steps.push({ does: `${of} ends`, state: withRun(world, { isOver: true, replies: [] }) });
      continue;
    }
    for (const call of open) {
      const { after, value } = await effectOf(world, call, startMs);
      const replies = [...run.replies, { call: call.number, value, atMs: startMs }];
      steps.push({ does: `${of} ${call.name}`, state: withRun(after, { replies }) });
      // A dead worker is another exploration's; here it would only stay claimed.
      if (world.faultsLeft === 0 || run.kind === 'worker') continue;
      steps.push({ does: `${of} dies before ${call.name}`, state: withRun(world, { replies: [] }, 1) });
      steps.push({ does: `${of} dies after ${call.name}`, state: withRun(after, { replies: [] }, 1) });
    }
  }
  return steps;
}

async function counted(world: World): Promise<number> {
  const ledger = ledgerOf(world);
  await countDispatches([dispatchId], { ledger, rates: shippedKnownRates, nowMs: () => startMs, readsSlices: true });
  return world.committed + [...ledger.months.values()].reduce((sum, by) => sum + by, 0);
}

const scenarios: readonly { readonly kinds: readonly RunKind[]; readonly faultsLeft: number }[] = [
  { kinds: ['release', 'worker', 'cancellation', 'count'], faultsLeft: 0 },
  { kinds: ['release', 'worker', 'cancellation'], faultsLeft: 1 },
  { kinds: ['release', 'cancellation', 'cancellation'], faultsLeft: 1 },
];

test.each(firstUnlessThorough(scenarios))(
  '$kinds, $faultsLeft faults: what may still cost stays reserved, the rest is free once a cancellation has answered, and nothing is freed twice (D53, D58)',
  async ({ kinds, faultsLeft }) => {
    const runs = kinds.map((kind): Run => ({ kind, replies: [], isOver: false }));
    const reserved = { units: 11 * utility };
    const first: World = { dispatch: begunItem, reserved, committed: reserved.units, runs, faultsLeft };
    const ends = new Set<number>();
    const states = await explore(first, {
      successorsOf,
      keyOf: ({ dispatch, slice, runs: all, statement, ...rest }) =>
        JSON.stringify([dispatch, slice, statement, rest, all.map((run) => numberOf(run))]),
      check: async (world) => {
        const { committed, slice } = world;
        if (committed < possible(world) * priceOf(world)) throw new Error('a message may cost what is not reserved');
        const kept = slice === undefined ? 0 : 10 * priceOf(world);
        if (isCancelled(world) && committed > kept) throw new Error('a cancelled dispatch keeps what it cannot cost');
        if (!world.runs.every(({ isOver, kind }) => isOver || (kind === 'worker' && !world.queued))) return;
        const sent = slice?.outcomes.filter((outcome) => outcome?.state === 'sent').length ?? 0;
        if ((await counted(world)) !== sent * priceOf(world)) throw new Error('a sum is not what the dispatch costs');
        ends.add(sent);
      },
    });
    expect(ends.size).toBe(kinds.includes('worker') ? 2 : 1);
    expect(states).toBeGreaterThan(100);
  },
  240_000,
);
