import type { DispatchItem } from '../../../../lib/messages/dispatch/item.ts';
import { endOfTry, settlementOf } from '../../../../lib/messages/dispatch/item-state.ts';
import { lost, type SliceClaim } from '../../../../lib/messages/dispatch/slice.ts';
import { partNumbers, type Step } from '../../../support/exploration.ts';
import type { Call, Reply, Standing } from '../../../support/replayed-run.ts';
import {
  applied,
  type Body,
  claimLifeMs,
  dispatchId,
  emptyStore,
  platformEffects,
  type RunEnd,
  type Start,
  type Store,
  standingOf,
  startMs,
} from '../send/claims/slice-world.ts';
import {
  type ReaderKind,
  type ReaderStart,
  readerCall,
  readerStanding,
  type Telling,
} from './stopped-dispatches-readers.ts';

type Chunk = Extract<Body, { kind: 'chunk' }>['chunk'];

interface Worker extends Start {
  readonly role: 'worker';
  readonly replies: readonly Reply[];
}

interface Reader extends ReaderStart {
  readonly role: 'reader';
  readonly replies: readonly Reply[];
  /** The client had been told this when the reader began. */
  readonly toldBefore: Told;
}

/** The client knows this for certain: minimum counts, the rows' states, and whether all recipients have ended. */
export interface Told {
  readonly counts: Readonly<Record<string, number>>;
  readonly rows: Readonly<Record<string, string>>;
  readonly complete: boolean;
}

export interface World {
  readonly nowMs: number;
  readonly store: Store;
  readonly dispatch: DispatchItem;
  readonly queue: readonly Chunk[];
  readonly runs: readonly (Worker | Reader)[];
  readonly told: Told;
  readonly total: number;
  /** These readers have not begun; they begin in order. */
  readonly readers: readonly ReaderKind[];
  readonly left: Readonly<Record<'deliveries' | 'faults' | 'waits', number>>;
  /** The last step broke this promise. */
  readonly broken?: string;
}

export function firstWorld(
  sizes: readonly number[],
  { readers, ...left }: World['left'] & Pick<World, 'readers'>,
): World {
  const slices = sizes.map((size, slice) => ({
    ...{ try: 0, size },
    recipients: Array.from({ length: size }, (_, place) => ({ index: slice * 10 + place, to: '' })),
  }));
  const total = (sizes.length - 1) * 10 + (sizes.at(-1) ?? 0);
  const told = { counts: {}, rows: {}, complete: false };
  return {
    nowMs: startMs,
    store: emptyStore,
    dispatch: {},
    queue: [{ dispatchId, slices }],
    runs: [],
    told,
    total,
    readers,
    left,
  };
}

export async function successorsOf(world: World): Promise<Step<World>[]> {
  const { left, dispatch, runs, queue } = world;
  for (const run of runs) {
    const unseen = await unseenStep(world, run);
    if (unseen !== undefined) return [unseen];
  }
  const steps: Step<World>[] = [];
  if (dispatch.stop === undefined) {
    const stop = { state: 'failed', code: '132016', atMs: world.nowMs } as const;
    const { store, dispatch: stopped } = readerCall(world, { name: 'stop', args: [{ dispatchId }, stop] });
    steps.push({ does: 'the template is disabled', state: { ...world, store, dispatch: stopped } });
  }
  if (left.waits > 0) {
    const nowMs = world.nowMs + claimLifeMs;
    const dead = runs.reduce(killed, world);
    steps.push({
      does: 'the life of a claim passes',
      state: { ...dead, nowMs, left: { ...left, waits: left.waits - 1 } },
    });
  }
  if (left.deliveries > 0 && !runs.some(({ role }) => role === 'worker')) {
    for (const [at, chunk] of queue.entries()) {
      const start = { body: { kind: 'chunk', chunk }, owner: `run-${left.deliveries}`, nowMs: world.nowMs } as const;
      const begun = {
        ...world,
        queue: queue.toSpliced(at, 1),
        runs: [...runs, { role: 'worker', ...start, replies: [] } as const],
      };
      steps.push({
        does: 'a worker takes a chunk',
        state: { ...begun, left: { ...left, deliveries: left.deliveries - 1 } },
      });
    }
  }
  steps.push(...beginning(world));
  for (const run of runs) steps.push(...(await stepsOf(world, run)));
  return steps;
}

function beginning({ readers: [kind, ...readers], ...world }: World): Step<World>[] {
  if (kind === undefined) return [];
  const { nowMs, total, told } = world;
  const reader = { role: 'reader', kind, nowMs, total, toldBefore: told, replies: [] } as const;
  return [{ does: `a ${kind} begins`, state: { ...world, readers, runs: [...world.runs, reader] } }];
}

/** The run dies; a worker's delivery comes again. */
function killed(world: World, run: Worker | Reader): World {
  const runs = world.runs.filter((other) => other !== run);
  if (run.role === 'reader' || run.body.kind !== 'chunk') return { ...world, runs };
  return { ...world, runs, queue: [...world.queue, run.body.chunk] };
}

const standings = new Map<number, Promise<Standing<RunEnd> | Standing<Telling>>>();

/** A run's state depends only on its start and its replies. */
function standing(run: Worker | Reader): Promise<Standing<RunEnd> | Standing<Telling>> {
  const number = numberOf(run);
  const before =
    standings.get(number) ?? (run.role === 'worker' ? standingOf(run, run.replies) : readerStanding(run, run.replies));
  standings.set(number, before);
  return before;
}

async function stepsOf(world: World, run: Worker | Reader): Promise<Step<World>[]> {
  const { left } = world;
  const of = run.role === 'worker' ? run.owner : `the ${run.kind}`;
  const faulty = { ...world, left: { ...left, faults: left.faults - 1 } };
  const { open, end } = await standing(run);
  if (end !== undefined) return [{ does: `${of} ends`, state: ended(world, run, end) }];
  const steps: Step<World>[] = [];
  for (const call of open) {
    const goOn = (base: World, reply: Pick<Reply, 'value' | 'fails'>): World => ({
      ...base,
      runs: base.runs.map((other) =>
        other === run
          ? { ...run, replies: [...run.replies, { call: call.number, ...reply, atMs: world.nowMs }] }
          : other,
      ),
    });
    for (const { does, after, value } of effectsOf(world, call)) {
      steps.push({ does: `${does} of ${of}`, state: goOn(after, { value }) });
    }
    if (left.faults === 0 || !writes.has(call.name)) continue;
    steps.push({ does: `${call.name} of ${of} fails`, state: goOn(faulty, { fails: true }) });
    const [effect] = effectsOf(faulty, call);
    if (effect !== undefined) {
      steps.push({ does: `${call.name} of ${of}, its reply lost`, state: goOn(effect.after, { fails: true }) });
    }
  }
  if (left.faults > 0) steps.push({ does: `${of} dies`, state: killed(faulty, run) });
  return steps;
}

/** Unobservable calls happen at once, and so does a reader's end: reporting early is the hardest case. */
async function unseenStep(world: World, run: Worker | Reader): Promise<Step<World> | undefined> {
  const { open, end } = await standing(run);
  const isUnseen = end !== undefined || open.every(({ name }) => unseen.has(name));
  return isUnseen ? (await stepsOf(world, run))[0] : undefined;
}

const unseen = new Set(['tell', 'markUnknown', 'proven']);
const writes = new Set(['claim', 'end', 'endForTheDead', 'stop', 'reckon']);
const ofReaders = new Set(['findDescribed', 'readMessages', 'reckon', 'stop', 'of']);

/** Returns the possible effects of a call; the platform takes a message, or refuses it for now. */
function effectsOf(world: World, { name, args }: Call): { does: string; after: World; value?: unknown }[] {
  if (name === 'call') {
    return (['accepted', 'throttled'] as const).map((effect) => ({
      ...{ does: effect, after: world, value: platformEffects[effect].outcome },
    }));
  }
  if (name === 'queueAgain') {
    const slices = args[0] as Chunk['slices'];
    return [{ does: name, after: { ...world, queue: [...world.queue, { dispatchId, slices }] } }];
  }
  if (ofReaders.has(name)) {
    const { store, dispatch, value } = readerCall(world, { name, args });
    return [{ does: name, after: { ...world, store, dispatch }, value }];
  }
  const { store, value } = applied(world.store, { name, args });
  // Claims and events belong to another exploration.
  const after = { ...world, store: { ...store, told: [], claims: {} } };
  if (name === 'look') return [{ does: name, after, value: { ...(value as object), ofDead: ofDead(world, args) } }];
  if (name !== 'tell') return [{ does: name, after, value }];
  const ofMessages = store.told.filter((event) => !event.startsWith('dispatch '));
  const rows = Object.fromEntries(ofMessages.map((event) => event.split(' ')));
  return [{ does: name, after: { ...after, ...toldBy({ rows }, world, 'worker') }, value }];
}

function ofDead({ dispatch }: World, [claim]: readonly unknown[]) {
  const { key, try: tried } = claim as SliceClaim;
  const stop = endOfTry(dispatch, { slice: key.slice, try: tried });
  return stop === undefined ? lost : settlementOf(stop);
}

function ended(world: World, run: Worker | Reader, end: RunEnd | Telling): World {
  const runs = world.runs.filter((other) => other !== run);
  if (run.role === 'worker')
    return 'kind' in end && end.kind === 'acknowledged' ? { ...world, runs } : killed(world, run);
  const telling = end as Telling;
  const broken = brokenBy(telling, run);
  return { ...world, runs, ...toldBy(telling, world, run.kind), ...(broken === undefined ? {} : { broken }) };
}

/** A reader must not contradict an earlier reader, or an event of the recipient's worker. */
function toldBy(telling: Telling, { told }: World, who: string): Pick<World, 'told' | 'broken'> {
  const other = Object.entries(telling.rows ?? {}).find(([index, state]) => {
    const before = told.rows[index];
    return before !== undefined && state !== 'pending' && state !== before;
  });
  const broken =
    other && `D53: recipient ${other[0]} was told as ${told.rows[other[0]]}, and is ${other[1]} to a ${who}`;
  return { told: toldWith(told, telling), ...(broken === undefined ? {} : { broken }) };
}

/** Compares the reports at the reader's start with its own report. */
function brokenBy({ counts, rows = {} }: Telling, { kind, total, toldBefore }: Reader): string | undefined {
  for (const [index, state] of Object.entries(rows)) {
    const before = toldBefore.rows[index];
    if (before !== undefined && before !== state)
      return `D40: recipient ${index} was ${before}, and is ${state} to a ${kind}`;
    if (toldBefore.complete && state === 'pending')
      return `D53: a ${kind} shows a pending recipient after the end was told`;
  }
  if (counts === undefined) return undefined;
  if (Object.values(counts).reduce((sum, count) => sum + count, 0) !== total)
    return 'D40: a recipient is in no count, or in two';
  for (const [state, count] of Object.entries(toldBefore.counts)) {
    const now = counts[state as keyof typeof counts];
    if (now < count) return `D53: ${count} had ended ${state}, and are ${now} to a ${kind}`;
  }
  return toldBefore.complete && counts.pending > 0
    ? `D53: a ${kind} counts a pending recipient after the end was told`
    : undefined;
}

function toldWith(told: Told, { counts = undefined, rows = {} }: Telling): Told {
  const { pending, ...endings } = counts ?? { pending: 1 };
  const most = Object.entries(endings).map(([state, count]) => [state, Math.max(count, told.counts[state] ?? 0)]);
  const final = Object.entries(rows).filter(([, state]) => state !== 'pending');
  return {
    counts: { ...told.counts, ...Object.fromEntries(most) },
    rows: { ...told.rows, ...Object.fromEntries(final) },
    complete: told.complete || pending === 0,
  };
}

const numberOf = partNumbers();

export function keyOf({ store, dispatch, queue, runs, told, ...rest }: World): string {
  return JSON.stringify([
    numberOf(store),
    numberOf(dispatch),
    queue.map((chunk) => numberOf(chunk)),
    runs.map((run) => numberOf(run)),
    numberOf(told),
    rest,
  ]);
}
