import { type BacklogEntry, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchWrites } from '../../../../lib/messages/dispatch/item-writes.ts';
import { placeInSlice, type Slice, type SliceKey, sliceAt } from '../../../../lib/messages/dispatch/slice.ts';
import { outcomeOf } from '../../../../lib/messages/report/outcome.ts';
import { withNews } from '../../../../lib/messages/sender/entry-progress.ts';
import type { Step } from '../../../support/exploration.ts';
import { begunItem, written } from '../../../support/messages-table/dispatch-item.ts';
import { sliceWrites } from '../../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import type { Call } from '../../../support/replayed-run.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { type Answer, headOf, type Run, standingOf } from './sender-model.ts';

export interface Store {
  readonly total: number;
  readonly entry: BacklogEntry | undefined;
  readonly item: DispatchItem;
  readonly slices: readonly (Slice | undefined)[];
  readonly told: readonly string[];
  readonly ends: number;
  /** By message, how its calls were answered. */
  readonly calls: Readonly<Record<number, readonly Answer[]>>;
  /** The broken promise of a write, found at its moment. */
  readonly wrong?: string;
}

export interface World extends Store {
  readonly nowMs: number;
  readonly runs: readonly Run[];
  readonly late: readonly Pick<Call, 'name' | 'args'>[];
  readonly started: number;
  readonly faultsLeft: number;
  readonly passesLeft: number;
  readonly mayStop: boolean;
  /** The stop was announced to the entry, and is not written yet. */
  readonly isAnnounced: boolean;
}

export interface Scenario {
  readonly total: number;
  readonly parts: number;
  readonly answers: readonly Answer[];
  /** The calls of message 0 are answered so, by default as all others. */
  readonly answersToFirst?: readonly Answer[];
  readonly mostRuns: number;
  /** So much time passes beside runs that stand still. */
  readonly besideRunsMs?: number;
  /** No other harm is done. */
  readonly deathsOnly?: true;
}

export function firstWorld(scenario: Scenario, bounds: Pick<World, 'faultsLeft' | 'passesLeft' | 'mayStop'>): World {
  const { pk: _partition, sk: _key, ...entry } = newEntry(headOf(scenario.total));
  return {
    total: scenario.total,
    entry,
    item: begunItem,
    // Of a first whole slice one recipient is left: it waits for its second try.
    slices: scenario.total > 10 ? [tried, undefined] : [undefined],
    ...{ told: [], ends: 0, calls: {}, nowMs: startMs, runs: [], late: [], started: 0, isAnnounced: false, ...bounds },
  };
}

const sent = { state: 'sent', platformMessageId: 'p' } as const;
const tried: Slice = {
  key: { dispatchId: scenarioHead.dispatchId, slice: 0 },
  ...{ try: 0, version: 2, owner: 'before', atMs: startMs, state: 'ended' },
  outcomes: [{ state: 'again', dueMs: startMs }, ...Array.from({ length: 9 }, () => sent)],
};

/** A claim is over, and whatever waits is due. */
export const passMs = 400_000;
export const reads: ReadonlySet<string> = new Set(['backlogOf', 'find', 'findSlice', 'slicesFrom', 'look']);

export async function successorsOf(world: World, scenario: Scenario): Promise<Step<World>[]> {
  const steps: Step<World>[] = [];
  const { runs, late, faultsLeft, started, nowMs } = world;
  if (runs.length < 2 && started < scenario.mostRuns && world.entry !== undefined) {
    {
      const part = started % scenario.parts;
      const of = { part, of: scenario.parts };
      const run: Run = { number: started, part: of, total: scenario.total, startedAtMs: nowMs, replies: [] };
      steps.push({
        does: `run ${started} of part ${part}`,
        state: { ...world, started: started + 1, runs: [...runs, run] },
      });
    }
  }
  for (const [at, call] of late.entries()) {
    const after = { ...world, late: late.toSpliced(at, 1) };
    steps.push({ does: `${call.name} lands late`, state: effectOf(after, call).world });
  }
  if (world.mayStop) {
    const entry = world.entry && { ...withNews(nowMs)(world.entry), version: (world.entry.version ?? 0) + 1 };
    steps.push({ does: 'a stop is announced', state: { ...world, entry, mayStop: false, isAnnounced: true } });
  }
  if (world.isAnnounced) {
    const { item = {} } = written(world.item, dispatchWrites.stop(scenarioHead, cancelled(nowMs)));
    steps.push({ does: 'is cancelled', state: { ...world, item, isAnnounced: false } });
    steps.push({ does: 'its cancellation dies', state: { ...world, isAnnounced: false } });
  }
  for (const run of runs) steps.push(...(await stepsOf(world, run, scenario)));
  const { besideRunsMs } = scenario;
  if (world.passesLeft > 0 && late.length === 0 && (runs.length === 0 || besideRunsMs !== undefined)) {
    const later = { nowMs: nowMs + (besideRunsMs ?? passMs), passesLeft: world.passesLeft - 1 };
    steps.push({ does: 'time passes', state: { ...world, ...later } });
  }
  return steps.filter(({ state }) => state.faultsLeft >= 0 || faultsLeft < 0);
}

async function stepsOf(world: World, run: Run, scenario: Scenario): Promise<Step<World>[]> {
  const { open, end } = await standingOf(run);
  const others = world.runs.filter((other) => other !== run);
  const name = `run ${run.number}`;
  if (end !== undefined) return [{ does: `${name} ends`, state: { ...world, runs: others } }];
  const faulty = { ...world, faultsLeft: world.faultsLeft - 1 };
  const steps: Step<World>[] = [{ does: `${name} dies`, state: { ...faulty, runs: others } }];
  for (const call of open) {
    const answered = (base: World, reply: { readonly value?: unknown; readonly fails?: true }): World => {
      const replies = [...run.replies, { ...reply, call: call.number, atMs: world.nowMs }];
      return { ...base, runs: world.runs.map((each) => (each === run ? { ...run, replies } : each)) };
    };
    const what = `${call.name} of ${name}`;
    if (call.name === 'send') {
      const first = call.args[0] === 0 ? scenario.answersToFirst : undefined;
      for (const answer of first ?? scenario.answers) {
        steps.push({ does: `${what}: ${answer}`, state: answered(called(world, call, answer), { value: answer }) });
      }
      continue;
    }
    if (call.name === 'wait') {
      const later = { ...world, nowMs: world.nowMs + 3_000, passesLeft: world.passesLeft - 1 };
      const replies = [...run.replies, { value: true, call: call.number, atMs: later.nowMs }];
      const runs = world.runs.map((each) => (each === run ? { ...run, replies } : each));
      if (world.passesLeft > 0) steps.push({ does: `${name} waits`, state: { ...later, runs } });
      steps.push({ does: `${name} waits no longer`, state: answered(world, { value: false }) });
      continue;
    }
    const { world: after, value } = effectOf(world, call);
    steps.push({ does: what, state: answered(after, { value }) });
    if (scenario.deathsOnly) continue;
    steps.push({ does: `${what} fails`, state: answered(faulty, { fails: true }) });
    if (reads.has(call.name)) continue;
    const hurt = { ...after, faultsLeft: faulty.faultsLeft };
    steps.push({ does: `${what}, its reply lost`, state: answered(hurt, { fails: true }) });
    const late = [...world.late, { name: call.name, args: call.args }];
    steps.push({ does: `${what} is given up`, state: answered({ ...faulty, late }, { fails: true }) });
    steps.push({ does: `${what}, repeated later`, state: answered({ ...hurt, late }, { value }) });
  }
  return steps;
}

export function called(world: World, { args: [index] }: Call, answer: Answer): World {
  const place = index as number;
  const calls = { ...world.calls, [place]: [...(world.calls[place] ?? []), answer] };
  const before = world.calls[place] ?? [];
  const wrong = before.some((each) => each !== 'again')
    ? { wrong: 'R13: called again after it may have been taken' }
    : {};
  return { ...world, calls, ...wrong };
}

/** Writes what a call writes, and returns its reply. */
export function effectOf(
  world: World,
  { name, args }: Pick<Call, 'name' | 'args'>,
): { readonly world: World; readonly value?: unknown } {
  const { entry, item, slices } = world;
  if (name === 'backlogOf') return { world, value: entry === undefined ? [] : [entry] };
  if (name === 'find' || name === 'look') return { world, value: item };
  if (name === 'findSlice') return { world, value: slices[(args[0] as SliceKey).slice] };
  if (name === 'slicesFrom')
    return { world, value: slices.slice(args[1] as number).filter((each) => each !== undefined) };
  if (name === 'tell')
    return { world: { ...world, told: [...new Set([...world.told, ...(args[0] as string[])])].sort() } };
  if (name === 'tellEnd') {
    const wrong = pendingIn(world).length > 0 ? { wrong: 'D41: the end is told too early' } : {};
    return { world: { ...world, ends: 1, ...wrong }, value: true };
  }
  if (name === 'remove') {
    const wrong = untold(world).length > 0 ? { wrong: `R14: its entry is removed, untold: ${untold(world)}` } : {};
    return { world: { ...world, entry: undefined, ...wrong } };
  }
  if (name === 'putEntry') {
    const [version, next] = args as [number, BacklogEntry];
    if (entry === undefined || (entry.version ?? 0) !== version) return { world, value: entry };
    return { world: { ...world, entry: next }, value: next };
  }
  if (name === 'reckon') {
    const [id, underWay] = args as Parameters<typeof dispatchWrites.reckon>;
    const after = written(item, dispatchWrites.reckon(id, underWay));
    return { world: { ...world, item: after.item ?? item }, value: after.value };
  }
  const [{ key }] = args as [Slice];
  const after = writtenBy(sliceWrites, name as 'claim', slices[key.slice], args as never);
  return { world: { ...world, slices: slices.with(key.slice, after.item) }, value: after.value };
}

function outcomesOf(world: World, nowMs = world.nowMs) {
  const dispatch = stateOf(world.item);
  return openIndexes(world).map((index) => {
    const { state } = outcomeOf(index, { slice: world.slices[sliceAt(index)], dispatch }, nowMs);
    return { index, state };
  });
}

function openIndexes({ slices, total }: Store): number[] {
  return slices.length > 1 ? [0, 10] : total === 1 ? [0] : [0, 1];
}

export function pendingIn(world: World) {
  return outcomesOf(world).filter(({ state }) => state === 'pending');
}

/** What a removed entry must have told. */
function untold(world: World): string[] {
  const wanted = outcomesOf(world).flatMap(({ index, state }) => {
    if (state === 'pending') return [`${index} is pending`];
    return state === 'sent' ? [] : [`${scenarioHead.dispatchId}-${index} message.${state}`];
  });
  const ends = world.ends === 0 ? ['its end'] : [];
  return [...wanted.filter((each) => !world.told.includes(each)), ...ends];
}

/** Throws when a promise is broken. */
export function check(world: World): void {
  if (world.wrong !== undefined) throw new Error(world.wrong);
  for (const { index, state } of outcomesOf(world)) {
    const isTaken = world.calls[index]?.includes('taken') === true;
    const recorded = world.slices[sliceAt(index)]?.outcomes[placeInSlice(index)];
    if (state === 'sent' && !isTaken) throw new Error('R14: counts as sent and was never taken');
    const isToldFailed = world.told.includes(`${scenarioHead.dispatchId}-${index} message.failed`);
    if (isToldFailed && isTaken) throw new Error('R14: told as failed and was taken');
    if (state === 'failed' && isTaken) throw new Error('R14: counts as failed and was taken');
    if (
      recorded?.state === 'unknown' &&
      !world.calls[index]?.some((each) => each !== 'again') &&
      world.faultsLeft > 9
    ) {
      throw new Error('D29: unknown without a call');
    }
  }
}

/**
 * From a world at rest, runs without further harm end the dispatch; the sweeper starts them when its entry is due.
 * Returns the world at its end.
 */
export async function checkFinishes(world: World, scenario: Scenario): Promise<World> {
  let at: World = { ...world, isAnnounced: false };
  for (let round = 0; round < 8 && at.entry !== undefined; round += 1) {
    for (let part = 0; part < scenario.parts; part += 1) {
      const run: Run = {
        number: 90 + round,
        part: { part, of: scenario.parts },
        total: scenario.total,
        startedAtMs: at.nowMs,
        replies: [],
      };
      at = { ...at, runs: [run] };
      while (at.runs.length > 0) {
        const [quiet] = (await stepsOf(at, at.runs[0] as Run, { ...scenario, answers: ['taken'] })).filter(
          ({ state }) => state.faultsLeft === at.faultsLeft,
        );
        if (quiet === undefined) throw new Error('a run stands still');
        at = quiet.state;
        check(at);
      }
    }
    at = { ...at, nowMs: at.nowMs + passMs };
  }
  if (at.entry !== undefined) throw new Error(`R14: ${JSON.stringify(at.entry)} waits for ever`);
  return at;
}
