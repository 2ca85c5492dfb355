import { standingIn } from '../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../lib/messages/dispatch/item-state.ts';
import { dispatchWrites } from '../../../lib/messages/dispatch/item-writes.ts';
import { type HoldRule, opened } from '../../../lib/messages/holds/hold.ts';
import { parkedWatchOf } from '../../../lib/messages/watch/watch-message.ts';
import { partNumbers, type Step } from '../../support/exploration.ts';
import { written } from '../../support/messages-table/dispatch-item.ts';
import type { Call, Reply } from '../../support/replayed-run.ts';
import { scenarioHead, startMs } from '../../support/scenario-dispatch.ts';
import { nowMsOf, type Role, type Run, runsMeanwhile, standingOf } from './held-dispatches-model.ts';
import { effectOf, type Store } from './held-dispatches-store.ts';

export interface World extends Store {
  readonly total: number;
  readonly runs: readonly Run[];
  readonly begun: number;
  readonly left: Readonly<Record<Role | 'faults' | 'changes' | 'cancels' | 'parks', number>>;
}

/** A run's messages come from this queue. */
const queueOf = { 'fan-out': 'dispatches', worker: 'chunks', watcher: 'watches' } as const;
const roles = ['fan-out', 'worker', 'watcher'] as const;

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const atOnce = await stepAtOnce(world);
  if (atOnce !== undefined) return [atOnce].filter(isBounded);
  const next = [...ofClients(world), ...ofOthers(world), ...ofPlatform(world)];
  const isOver = world.runs.some(({ number }) => world.begun - number > runsMeanwhile);
  if (world.runs.length < 2 && !isOver) next.push(...roles.flatMap((role) => beginnings(world, role)));
  for (const run of world.runs) next.push(...(await stepsOf(world, run)));
  return next.filter(isBounded);
}

const isBounded = ({ state }: Step<World>) => state.chunks.length <= 2;

/** holds-explorer.test.ts explores the order of these calls. */
const holdChanges = new Set(['changeHolds', 'goOn']);
/**
 * No other run can observe these calls: an event, and a queue message, which may wait in its queue as long as needed
 * anyway.
 */
const unseen = new Set([...holdChanges, 'tell', 'watch', 'sendLater']);

/**
 * These calls happen at once and never fail. When no faults are left, unobservable calls and a run's end happen at once
 * as well.
 */
async function stepAtOnce(world: World): Promise<Step<World> | undefined> {
  const mayFail = world.left.faults > 0;
  for (const run of world.runs) {
    const { open, acknowledged } = await standingOf(run);
    if (acknowledged !== undefined && !mayFail)
      return { does: `${nameOf(run)} ends`, state: endOf(world, run, acknowledged) };
    for (const call of open) {
      if (!(mayFail ? holdChanges : unseen).has(call.name)) continue;
      const { after, value } = done(world, call);
      return { does: `${call.name} of ${nameOf(run)}`, state: answered(after, run, { call: call.number, value }) };
    }
  }
  return undefined;
}

/** The client cancels the dispatch. */
function ofClients(world: World): Step<World>[] {
  const { dispatch, left } = world;
  const steps: Step<World>[] = [];
  if (dispatch.stop === undefined && left.cancels > 0) {
    const { item = dispatch } = written(dispatch, dispatchWrites.stop(scenarioHead, cancelled(startMs)));
    const state = { ...world, dispatch: item, left: less(world, 'cancels') };
    steps.push({ does: 'the dispatch is cancelled', state });
  }
  return steps;
}

/** Another slice's message is refused: its worker parks the dispatch. */
function ofOthers(world: World): Step<World>[] {
  const { dispatch, template, left, begun } = world;
  if (
    left.parks === 0 ||
    template !== 'PAUSED' ||
    standingIn(dispatch) !== 'begun' ||
    dispatch.stop !== undefined ||
    dispatch.parked !== undefined
  )
    return [];
  const sinceMs = nowMsOf({ number: begun });
  const parked = { code: 'template_paused', scope: 'template', sinceMs } as const;
  const watches = [...world.watches, JSON.stringify(parkedWatchOf(scenarioHead, sinceMs))].sort();
  const { item: held = dispatch } = written(dispatch, dispatchWrites.park(scenarioHead.dispatchId, parked));
  const holds = pausedSince(sinceMs)(world.holds);
  return [
    { does: 'the dispatch is parked', state: { ...world, dispatch: held, holds, watches, left: less(world, 'parks') } },
  ];
}

/** Opens the hold of a refused template. */
export function pausedSince(sinceMs: number): HoldRule {
  return opened('template:order_update/en_US', { code: '132015', nowMs: sinceMs });
}

function ofPlatform(world: World): Step<World>[] {
  if (world.left.changes === 0) return [];
  const others = (['APPROVED', 'PAUSED', 'DISABLED'] as const).filter((template) => template !== world.template);
  return others.map((template) => {
    return { does: `the template is ${template}`, state: { ...world, template, left: less(world, 'changes') } };
  });
}

function less({ left }: World, what: keyof World['left']): World['left'] {
  return { ...left, [what]: left[what] - 1 };
}

function beginnings(world: World, role: Role): Step<World>[] {
  if (world.left[role] === 0) return [];
  const queue = queueOf[role];
  return [...new Set(world[queue])].map((body) => {
    const run: Run = { role, number: world.begun, body, replies: [], total: world.total };
    const runs = [...world.runs, run];
    const rest = world[queue].toSpliced(world[queue].indexOf(body), 1);
    const state = { ...world, [queue]: rest, runs, begun: world.begun + 1, left: less(world, role) };
    return { does: `${nameOf(run)} takes ${body}`, state };
  });
}

function nameOf({ role, number }: Run): string {
  return `${role} ${number}`;
}

/** Returns the possible next steps of a run: it dies or ends, or a call succeeds, fails or loses its reply. */
async function stepsOf(world: World, run: Run): Promise<Step<World>[]> {
  const harm = { left: less(world, 'faults') };
  const mayFail = world.left.faults > 0;
  const steps: Step<World>[] = mayFail
    ? [{ does: `${nameOf(run)} dies`, state: { ...endOf(world, run, false), ...harm } }]
    : [];
  const { open, acknowledged } = await standingOf(run);
  if (acknowledged !== undefined) {
    return [...steps, { does: `${nameOf(run)} ends`, state: endOf(world, run, acknowledged) }];
  }
  for (const call of open) {
    const goOn = (base: World, reply: Omit<Reply, 'call' | 'atMs'>) =>
      answered(base, run, { call: call.number, ...reply });
    const does = `${call.name} of ${nameOf(run)}`;
    const { after, value } = done(world, call);
    steps.push({ does, state: goOn(after, { value }) });
    if (!mayFail || call.name === 'send') continue;
    steps.push({ does: `${does} fails`, state: goOn({ ...world, ...harm }, { fails: true }) });
    steps.push({ does: `${does}, its reply lost`, state: goOn({ ...after, ...harm }, { fails: true }) });
  }
  return steps;
}

/** The message comes again unless it was acknowledged. */
function endOf(world: World, run: Run, acknowledged: boolean): World {
  const gone = { ...world, runs: world.runs.filter((other) => other !== run) };
  const queue = queueOf[run.role];
  return acknowledged ? gone : { ...gone, [queue]: [...world[queue], run.body].sort() };
}

function answered(base: World, run: Run, reply: Omit<Reply, 'atMs'>): World {
  const replies = [...run.replies, { ...reply, atMs: nowMsOf(run) }];
  return { ...base, runs: base.runs.map((other) => (other === run ? { ...run, replies } : other)) };
}

function done(world: World, { name, args }: Call): { readonly after: World; readonly value: unknown } {
  const { changes, value } = effectOf(leased(world, name), name, args);
  return { after: { ...world, ...changes }, value };
}

/** The message of a dead fan-out run comes again when its lease is over. */
function leased(world: World, name: string): World {
  const { dispatch, runs } = world;
  const { round } = dispatch;
  const lives = runs.some(({ role, number }) => role === 'fan-out' && `fan-out ${number}` === round?.lease?.owner);
  if (name !== 'take' || round === undefined || lives) return world;
  return { ...world, dispatch: { ...dispatch, round: { round: round.round } } };
}

const numberOf = partNumbers();

/** Worlds with the same future have the same key. */
export function keyOf({
  runs,
  claimedIn,
  told,
  taken,
  dispatches,
  chunks,
  watches,
  begun: _,
  ...world
}: World): string {
  const { dispatch, slice, holds, heldAtClaim, questions, template, total, left, wrong } = world;
  const parts = [dispatch, holds, told, taken, dispatches, chunks, watches, heldAtClaim, questions, left].map((part) =>
    numberOf(part),
  );
  const facts = [slice && numberOf(slice), claimedIn.stop !== undefined, template, total, wrong];
  return JSON.stringify([parts, runs.map((run) => numberOf(run)), facts]);
}
