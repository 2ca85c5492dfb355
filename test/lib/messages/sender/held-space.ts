import { type BacklogEntry, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled, longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchWrites } from '../../../../lib/messages/dispatch/item-writes.ts';
import { unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { type Holds, type HoldVerdict, holdsOn } from '../../../../lib/messages/holds/hold.ts';
import { isOverBy } from '../../../../lib/messages/holds/questions.ts';
import { type EntryRule, withNews } from '../../../../lib/messages/sender/entry-progress.ts';
import { dueMsOf } from '../../../../lib/messages/sender/sweep.ts';
import type { Step } from '../../../support/exploration.ts';
import { begunItem, written, writtenByName } from '../../../support/messages-table/dispatch-item.ts';
import type { Call } from '../../../support/replayed-run.ts';
import { startMs } from '../../../support/scenario-dispatch.ts';
import { type HeldRun, head, type SendAnswer, standingOfHeld } from './held-model.ts';

export interface World {
  readonly nowMs: number;
  readonly entry: BacklogEntry | undefined;
  readonly item: DispatchItem;
  readonly holds: Holds;
  /** What the platform says of the template, and what it answers a message. */
  readonly template: string;
  readonly answer: SendAnswer;
  readonly told: readonly string[];
  readonly isTaken: boolean;
  readonly ends: number;
  readonly runs: readonly HeldRun[];
  readonly started: number;
  readonly faultsLeft: number;
  readonly passesLeft: number;
  /** The platform may say and answer so once more. */
  readonly turns: readonly { readonly template: string; readonly answer: SendAnswer }[];
  readonly mayCancel: boolean;
  readonly wrong?: string;
}

export interface Scenario {
  readonly mostRuns: number;
  /** So many runs live at a time; the others come when they are over. */
  readonly atOnce: number;
  readonly deathsOnly?: true;
}

/** The dispatch was accepted a second ago: a verdict ends only what was accepted before its reading. */
export function firstWorld(changes: Partial<World>): World {
  const { pk: _partition, sk: _key, ...entry } = newEntry(head);
  return {
    ...{ nowMs: startMs + 1_000, entry, item: begunItem, told: [], isTaken: false, ends: 0, runs: [], started: 0 },
    ...{ holds: { holds: {}, silences: {} }, template: 'PENDING', answer: 'taken', faultsLeft: 1, passesLeft: 1 },
    ...{ turns: [], mayCancel: false },
    ...changes,
  };
}

/** A sender before has parked the dispatch once it was accepted, told it, and left. */
export function parkedWorld(changes: Partial<World>): World {
  const parked = { code: 'template_in_review', scope: 'template', sinceMs: startMs } as const;
  const { wabaId, category, path, templateName, templateLanguage } = head;
  const untilMs = parked.sinceMs + longestParkMs;
  const world = firstWorld(changes);
  const waits = { wabaId, category, path, templateName, templateLanguage, untilMs };
  const parts = [{ floor: 0, dueMs: startMs }];
  return {
    ...world,
    item: { ...begunItem, parked },
    entry: world.entry && { ...world.entry, parts, parked: waits },
    told: [`dispatch.parked ${parked.sinceMs}`],
  };
}

const reads: ReadonlySet<string> = new Set(['backlogOf', 'find', 'look', 'findHolds', 'findTemplate']);

export async function successorsOf(world: World, scenario: Scenario): Promise<Step<World>[]> {
  const { runs, started, turns, passesLeft } = world;
  const steps: Step<World>[] = [];
  if (runs.length < scenario.atOnce && started < scenario.mostRuns && world.entry !== undefined) {
    const run: HeldRun = { number: started, startedAtMs: world.nowMs, replies: [] };
    steps.push({ does: `run ${started}`, state: { ...world, started: started + 1, runs: [...runs, run] } });
  }
  const [turn, ...later] = turns;
  if (turn !== undefined) {
    steps.push({ does: `the template is ${turn.template}`, state: { ...world, ...turn, turns: later } });
  }
  if (world.mayCancel && world.item.stop === undefined) {
    const { item = {} } = written(world.item, dispatchWrites.stop(head, cancelled(world.nowMs)));
    const entry = world.entry && changed(world.entry, withNews(world.nowMs));
    steps.push({ does: 'is cancelled', state: { ...world, item, entry, mayCancel: false } });
  }
  // Beside living runs no more passes than a lease lasts; between runs the sweeper's next moment comes.
  const nextMs = runs.length > 0 ? world.nowMs + 61_000 : wakeMs(world);
  if (passesLeft > 0 && nextMs !== undefined && nextMs > world.nowMs) {
    const seconds = (nextMs - world.nowMs) / 1_000;
    steps.push({ does: `${seconds} s pass`, state: { ...world, nowMs: nextMs, passesLeft: passesLeft - 1 } });
  }
  for (const run of runs) steps.push(...(await stepsOf(world, run, scenario)));
  return steps.filter(({ state }) => state.faultsLeft >= 0);
}

/** Returns when the sweeper wakes the number. */
function wakeMs({ entry, item, holds, nowMs }: World): number | undefined {
  if (entry === undefined) return undefined;
  return dueMsOf(entry, { ...item, head: JSON.stringify(head) }, { holds, breaker: unknownBreaker }, nowMs);
}

async function stepsOf(world: World, run: HeldRun, scenario: Scenario): Promise<Step<World>[]> {
  const { open, end } = await standingOfHeld(run);
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
    const { world: after, value } = effectOf(world, call);
    const asks = call.name === 'findTemplate' ? await alsoAsking(world, run) : undefined;
    steps.push({ does: what, state: answered(asks === undefined ? after : { ...after, wrong: asks }, { value }) });
    if (scenario.deathsOnly || call.name === 'send') continue;
    steps.push({ does: `${what} fails`, state: answered(faulty, { fails: true }) });
    if (reads.has(call.name)) continue;
    steps.push({
      does: `${what}, its reply lost`,
      state: answered({ ...after, faultsLeft: faulty.faultsLeft }, { fails: true }),
    });
  }
  return steps;
}

/** A reading times out long before its lease of a minute ends. */
async function alsoAsking(world: World, run: HeldRun): Promise<string | undefined> {
  const isTimedOut = ({ replies }: HeldRun) => world.nowMs > (replies.at(-1)?.atMs ?? 0) + 60_000;
  for (const other of world.runs) {
    if (other === run || isTimedOut(other) || isTimedOut(run)) continue;
    const { open } = await standingOfHeld(other);
    if (open.some(({ name }) => name === 'findTemplate')) return 'D46: two senders read one template';
  }
  return undefined;
}

function changed(entry: BacklogEntry, rule: EntryRule): BacklogEntry {
  return { ...rule(entry), version: (entry.version ?? 0) + 1 };
}

function effectOf(
  world: World,
  { name, args }: Pick<Call, 'name' | 'args'>,
): { readonly world: World; readonly value?: unknown } {
  const { entry, item, holds } = world;
  if (name === 'backlogOf') return { world, value: entry === undefined ? [] : [entry] };
  if (name === 'find') return { world, value: item };
  if (name === 'look') return { world, value: { item, holds } };
  if (name === 'findHolds') return { world, value: holds };
  if (name === 'findTemplate') return { world, value: world.template };
  if (name === 'putHolds') {
    const [before, after] = args as [Holds, Holds];
    if (JSON.stringify(before) !== JSON.stringify(holds)) return { world, value: holds };
    return { world: { ...world, holds: after } };
  }
  if (name === 'send') {
    // What a run before it has called is met as ended, without a call.
    if (world.isTaken) return { world, value: 'taken' };
    return { world: { ...world, isTaken: world.answer === 'taken' }, value: world.answer };
  }
  if (name === 'tell') return { world: { ...world, told: withTold(world.told, args[0] as string[]) } };
  if (name === 'tellEnd') return { world: { ...world, ends: 1 }, value: true };
  if (name === 'remove') {
    const wrong = world.ends === 0 ? { wrong: 'R14: its entry is removed untold' } : {};
    return { world: { ...world, entry: undefined, ...wrong } };
  }
  if (name === 'changeEntry') {
    const next = entry && changed(entry, args[1] as EntryRule);
    return { world: { ...world, entry: next }, value: next };
  }
  const after = writtenByName(name, item, args);
  return { world: { ...world, item: after.item ?? item }, value: after.value };
}

function withTold(told: readonly string[], more: readonly string[]): readonly string[] {
  return [...told, ...more.filter((each) => !told.includes(each))];
}

const pausesIn = ({ told }: Pick<World, 'told'>) => told.filter((each) => each.startsWith('dispatch.'));

/** Throws when a promise is broken. */
export function check(world: World): void {
  if (world.wrong !== undefined) throw new Error(world.wrong);
  const pauses = pausesIn(world);
  for (const [at, each] of pauses.entries()) {
    const [type, since] = each.split(' ');
    if (at % 2 === 0 && type !== 'dispatch.parked') throw new Error(`D46: ${each} without a pause`);
    if (at % 2 === 1 && type !== 'dispatch.resumed') throw new Error('D46: two pauses are told at once');
    if (at % 2 === 1 && pauses[at - 1] !== `dispatch.parked ${since}`) throw new Error(`D46: ${each} of another pause`);
  }
  const { parked, stop } = stateOf(world.item);
  const last = parked && `dispatch.parked ${parked.sinceMs}`;
  if (parked !== undefined && stop === undefined && parked.untold === undefined && pauses.at(-1) !== last) {
    throw new Error('D46: parked, and its client is not told');
  }
}

/** Two days of sweeps are enough for whatever waits. */
const mostSweeps = 400;

/**
 * From a world at rest, runs without further harm, woken by the sweeper, end the dispatch: it is sent, or stopped, by a
 * verdict at once. Each pause that was told has its end.
 */
export async function checkFinishes(world: World): Promise<World> {
  let at: World = world;
  for (let round = 0; round < mostSweeps && at.entry !== undefined; round += 1) {
    const dueMs = wakeMs(at) ?? at.nowMs;
    if (!Number.isFinite(dueMs)) throw new Error('R14: the sweeper never wakes its number');
    at = { ...at, nowMs: Math.max(at.nowMs, dueMs) };
    const run: HeldRun = { number: 90, startedAtMs: at.nowMs, replies: [] };
    at = { ...at, runs: [run] };
    while (at.runs.length > 0) {
      const steps = await stepsOf(at, at.runs[0] as HeldRun, { mostRuns: 0, atOnce: 0, deathsOnly: true });
      const next = steps.find(({ state }) => state.faultsLeft === at.faultsLeft);
      if (next === undefined) throw new Error('a run stands still');
      at = next.state;
      check(at);
    }
    at = { ...at, nowMs: at.nowMs + 1_000 };
  }
  if (at.entry !== undefined) throw new Error(`R14: it waits for ever: ${JSON.stringify(at.entry)}`);
  const { stop } = at.item;
  const verdict = verdictOn(world);
  const isHeeded = stop?.code === verdict?.code && stop?.atMs === world.nowMs;
  if (verdict !== undefined && !isHeeded) throw new Error('D46: a verdict waits, or is overtaken by a later approval');
  if (stop === undefined && !at.isTaken) throw new Error('R14: its message is not sent');
  if (stop === undefined && pausesIn(at).length % 2 > 0) throw new Error('D46: the end of a pause is not told');
  if (stop?.state === 'expired' && at.nowMs < startMs + longestParkMs) throw new Error('D46: it expires too early');
  return at;
}

/** Returns what a reading has said that ends the dispatch, and no sender has written yet. */
function verdictOn({ holds, item: { stop } }: World): HoldVerdict | undefined {
  const read = holdsOn(holds, head).find(({ hold }) => hold.byReading)?.hold;
  return stop === undefined && read !== undefined && isOverBy(read, head.acceptedAtMs) ? read.verdict : undefined;
}
