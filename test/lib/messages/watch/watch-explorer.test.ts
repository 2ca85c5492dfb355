import { expect, test } from 'vitest';
import { type FanOutPorts, fanOutDispatch } from '../../../../lib/messages/fan-out/fan-out-dispatch.ts';
import { type WatchPorts, watchDispatches } from '../../../../lib/messages/watch/watch.ts';
import type { WatchMessage } from '../../../../lib/messages/watch/watch-message.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { explore, type Step } from '../../../support/exploration.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';
import { thorough } from '../../../support/thorough.ts';

/**
 * Explores every order of a dispatch's last endings, its fan-out's end, its watchers' looks and deliveries, with every
 * pair of faults. A stopped dispatch's first look records what is under way and ends the rest (D53).
 */
const partitions = 2;
const head = { ...scenarioHead, total: 1_500 };
const { dispatchId, clientId, acceptedAtMs } = head;

type Role = 'fan-out' | 'watch';
type OpName = 'list' | 'watch' | 'progressOf' | 'sendEvents';

interface Reply {
  readonly value?: unknown;
  readonly fails?: true;
}

interface Queued {
  readonly id: number;
  readonly role: Role;
  readonly body: string;
  readonly visible: boolean;
}

interface Run {
  readonly role: Role;
  readonly holds: number;
  readonly body: string;
  readonly replies: readonly Reply[];
}

interface State {
  /** These partitions have ended, in ascending order. */
  readonly ended: readonly number[];
  readonly stop: 'never' | 'to come' | 'there' | 'reckoned';
  /** These partitions have a claim from before the record of what is under way. */
  readonly claimed: readonly number[];
  readonly queue: readonly Queued[];
  readonly nextId: number;
  readonly runs: readonly Run[];
  readonly told: readonly string[];
  readonly toldEarly: boolean;
  readonly deliveriesLeft: number;
  readonly faultsLeft: number;
}

interface Standing {
  readonly op?: { readonly name: OpName; readonly args: readonly unknown[] };
  readonly acknowledged?: boolean;
}

const standings = new Map<string, Promise<Standing>>();

/** Returns a run's next outside call or its end after these replies. It depends on nothing else. */
function standingOf({ role, body, replies }: Run): Promise<Standing> {
  const key = JSON.stringify([role, body, replies]);
  const known = standings.get(key) ?? replayed({ role, body, replies });
  standings.set(key, known);
  return known;
}

async function replayed({ role, body, replies }: Omit<Run, 'holds'>): Promise<Standing> {
  let open: Standing['op'];
  let at = 0;
  const call =
    (name: OpName) =>
    (...args: unknown[]): Promise<never> => {
      const reply = replies[at++];
      if (reply === undefined) {
        open = { name, args };
        return new Promise(() => undefined);
      }
      return reply.fails ? Promise.reject(new Error('unavailable')) : (Promise.resolve(reply.value) as Promise<never>);
    };
  const watch = { sendLater: call('watch') };
  const sink = { send: call('sendEvents') };
  const parked = undefined as unknown as WatchPorts['parked'];
  const common = { events: sink, spend: noCosts.spend, parked, nowMs: () => startMs, log: () => undefined };
  // fan-out/rounds-explorer.test.ts explores the ownership of rounds.
  const take = async () => ({ kind: 'taken', progress: { queued: head.total }, state: {} });
  const dispatches = { find: async () => ({ head }), list: call('list'), take, handOver: async () => true };
  const run =
    role === 'watch'
      ? watchDispatches([{ messageId: 'm', body }], { ...common, queue: watch, progressOf: call('progressOf') })
      : fanOutDispatch({ dispatchId, clientId, acceptedAtMs }, 'run', {
          ...common,
          watch,
          dispatches,
          hold: async () => undefined,
        } as unknown as FanOutPorts).then(
          () => [],
          () => ['m'],
        );
  let failed: string[] | undefined;
  void run.then((ids) => {
    failed = ids;
  });
  for (let turn = 0; turn < 30; turn += 1) await null;
  if (open !== undefined) return { op: open };
  if (failed === undefined) throw new Error('the run neither calls nor ends');
  return { acknowledged: failed.length === 0 };
}

/** Returns partitions without pending messages for a reader at this moment. */
function finalIn({ ended, stop, claimed }: State): number[] {
  return [0, 1].filter((partition) => {
    return ended.includes(partition) || (stop === 'reckoned' && !claimed.includes(partition));
  });
}

function effectOf(state: State, { name, args }: NonNullable<Standing['op']>): { state: State; value?: unknown } {
  if (name === 'list') return { state };
  if (name === 'progressOf') {
    const known = args[1] as readonly number[];
    const reckoned: State = state.stop === 'there' ? { ...state, stop: 'reckoned' } : state;
    const final = finalIn(reckoned);
    const finalPartitions = [...new Set([...known, ...final])].toSorted();
    const none = { pending: 0, held: 0, delivered: 0, read: 0, failed: 0, expired: 0, unknown: 0 };
    const counts = final.length === partitions ? { counts: { ...none, sent: head.total } } : {};
    return { state: reckoned, value: { head, finalPartitions, ...counts } };
  }
  if (name === 'watch') {
    const queued = { id: state.nextId, role: 'watch', body: JSON.stringify(args[0]), visible: true } as const;
    return { state: { ...state, queue: [...state.queue, queued], nextId: state.nextId + 1 } };
  }
  const ids = (args[0] as readonly ServiceEvent[]).map(({ id }) => id);
  const toldEarly = state.toldEarly || finalIn(state).length < partitions;
  return { state: { ...state, told: [...new Set([...state.told, ...ids])], toldEarly } };
}

async function successorsOf(state: State): Promise<Step<State>[]> {
  const next: Step<State>[] = [];
  const add = (does: string, after: State) => void next.push({ does, state: after });
  const faulty = { ...state, faultsLeft: state.faultsLeft - 1 };
  const mayFail = state.faultsLeft > 0;
  const withRuns = (base: State, runs: readonly Run[]) => ({ ...base, runs });
  const shown = (base: State, id: number) => ({
    ...base,
    queue: base.queue.map((queued) => (queued.id === id ? { ...queued, visible: true } : queued)),
  });
  for (let partition = 0; partition < partitions; partition += 1) {
    if (state.ended.includes(partition)) continue;
    add(`partition ${partition} ends`, { ...state, ended: [...state.ended, partition].toSorted() });
    const mayClaim = (state.stop === 'to come' || state.stop === 'there') && !state.claimed.includes(partition);
    if (mayClaim) {
      add(`partition ${partition} is claimed`, { ...state, claimed: [...state.claimed, partition].toSorted() });
    }
  }
  if (state.stop === 'to come') add('the dispatch is stopped', { ...state, stop: 'there' });
  for (const { id, role, body, visible } of state.queue) {
    if (!visible) {
      if (mayFail) add(`message ${id} comes again while its run is at work`, shown(faulty, id));
    } else if (state.deliveriesLeft > 0 && state.runs.length < 2) {
      const queue = state.queue.map((queued) => (queued.id === id ? { ...queued, visible: false } : queued));
      const runs = [...state.runs, { role, holds: id, body, replies: [] }];
      add(`a ${role} takes message ${id}`, { ...state, queue, runs, deliveriesLeft: state.deliveriesLeft - 1 });
    }
  }
  for (const run of state.runs) {
    const others = state.runs.filter((other) => other !== run);
    const of = `the ${run.role} of message ${run.holds}`;
    if (mayFail) add(`${of} dies`, shown(withRuns(faulty, others), run.holds));
    const { op, acknowledged } = await standingOf(run);
    if (op === undefined) {
      const queue = state.queue.filter(({ id }) => id !== run.holds);
      const after = acknowledged ? { ...state, runs: others, queue } : shown(withRuns(state, others), run.holds);
      add(`${of} ends${acknowledged ? '' : ', to come again'}`, after);
      continue;
    }
    const goOn = (base: State, reply: Reply) =>
      withRuns(base, [...others, { ...run, replies: [...run.replies, reply] }]);
    const { state: after, value } = effectOf(state, op);
    add(`${op.name} by ${of}`, goOn(after, { value }));
    if (!mayFail) continue;
    add(`${op.name} by ${of} fails`, goOn(faulty, { fails: true }));
    add(`${op.name} by ${of}, its reply lost`, goOn(effectOf(faulty, op).state, { fails: true }));
  }
  return next;
}

function check(state: State): void {
  if (state.toldEarly) throw new Error('D41: the end was told while something was pending');
  if (state.told.length > 1) throw new Error('D41: the end was told under two ids');
  if (state.told.length > 0 && finalIn(state).length < partitions) {
    throw new Error('D53: something is pending although the end was told');
  }
  if (state.told.length === 0 && state.queue.length === 0) throw new Error('D41: nothing is left to tell the end');
}

/** States with the same future have the same key; message ids and order do not matter. */
function keyOf({ queue, runs, nextId: _, ...rest }: State): string {
  const runOf = ({ role, body, replies }: Run) => JSON.stringify([role, body, replies]);
  const held = queue.map(({ id, role, body, visible }) => {
    const by = runs.filter(({ holds }) => holds === id).map(runOf);
    return JSON.stringify([role, body, visible, by.toSorted()]);
  });
  const strays = runs.filter(({ holds }) => queue.every(({ id }) => id !== holds)).map(runOf);
  return JSON.stringify([held.toSorted(), strays.toSorted(), rest]);
}

const bounds = [
  { name: 'a dispatch', stop: 'never', deliveriesLeft: thorough ? 6 : 5, faultsLeft: thorough ? 2 : 1 },
  { name: 'a dispatch that is stopped meanwhile', stop: 'to come', deliveriesLeft: thorough ? 4 : 3, faultsLeft: 1 },
] as const;

test.each(bounds)(
  'the end of $name is told, never too early, under one id (D41, D53)',
  { timeout: 600_000 },
  async ({ name: _, ...bound }) => {
    const accepted: Queued = { id: 0, role: 'fan-out', body: '', visible: true };
    const nothing = { ended: [], claimed: [], runs: [], told: [], toldEarly: false };
    const first: State = { ...nothing, queue: [accepted], nextId: 1, ...bound };
    let toldAndQuiet = 0;
    let watchers = 0;
    const states = await explore(first, {
      successorsOf,
      keyOf,
      check: (state) => {
        check(state);
        if (state.told.length === 1 && state.queue.length === 0) toldAndQuiet += 1;
        const watching = state.queue.filter(({ role }) => role === 'watch');
        watchers = Math.max(watchers, watching.length);
        for (const { body } of watching) expect((JSON.parse(body) as WatchMessage).dispatchId).toBe(head.dispatchId);
      },
    });
    // An exploration that reaches too little must fail: it saw ends, and faults that led to several watchers of one
    // dispatch.
    expect([states > 2_000, toldAndQuiet > 0, watchers > 1]).toEqual([true, true, true]);
  },
);
