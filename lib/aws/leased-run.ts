import * as v from 'valibot';
import { type Lease, LeaseSchema } from './lease.ts';
import { maxDelaySeconds } from './queue-body.ts';
import type { Versioned } from './versioned-item.ts';

/*
 * One run at a time works off the list of a key; any run puts into it. Two looks lose nothing: put into the list, then
 * read the lease; give the lease back, then look at the list.
 */

/** Clocks differ by so much at most: another run takes a lease over so much later, and trusts no nearer wake. */
export const clocksApartMs = 5_000;
/** SQS delays are whole seconds, so a wake may be this late. */
const wakeLateMs = 1_000;

/** What the item of a key needs; the rest of it is what one run tells the next. */
export const runStateEntries = {
  lease: v.optional(v.object({ ...LeaseSchema.entries, messages: v.array(v.string()) })),
  /** The latest wake that is noted becomes visible then; 0 means that none is. */
  wakeAtMs: v.optional(v.number(), 0),
};

export interface RunState {
  readonly lease?: (Lease & { readonly messages: readonly string[] }) | undefined;
  readonly wakeAtMs: number;
}

export interface Leasing {
  readonly leaseMs: number;
  /** A run that may outlast its lease renews it this often, and queues a wake each time for its own death. */
  readonly renewMs?: number;
}

export interface RunStates<State> {
  /** Changes the item by compare-and-set; undefined from `decide` leaves it. `seen` spares the first read. */
  change(
    decide: (state: State) => State | undefined,
    seen?: Versioned<State>,
  ): Promise<Versioned<State> & { readonly changed: boolean }>;
}

export interface Turn<State> {
  /** What the runs before have learnt. */
  readonly state: State;
  /** False once the lease is over by this run's clock, another run has it, or this run's time is over. */
  readonly mayClaim: () => boolean;
  /** Renews the lease when that is due. Throws when store or queue fail; the lease then lasts until its time. */
  readonly keep: () => Promise<void>;
}

export interface LeasedKey<State extends RunState> {
  readonly leasing: Leasing;
  readonly states: RunStates<State>;
  /** If the run dies, these queue messages of it start another one, so no other run acknowledges them. */
  readonly messages: readonly string[];
  /** Looks, strongly consistent, when the first of what waits is due. Undefined: nothing is, or a hold's end wakes. */
  readonly firstDueMs: (state: State) => Promise<number | undefined>;
  /** Works off what is due, and returns what it has learnt. It claims only while `mayClaim`. */
  readonly work: (turn: Turn<State>) => Promise<(state: State) => State>;
  readonly wake: (delaySeconds: number) => Promise<void>;
  readonly mayGoOn: () => boolean;
  /** Each lease has an owner of its own. */
  readonly newOwner: () => string;
  readonly nowMs: () => number;
}

/**
 * Works off what is due, as the key's only run, until nothing is or `mayGoOn` ends. Then all that waits has a wake, or
 * another run, whose lease is returned. What `work` began may end afterwards.
 */
export async function leasedRun<State extends RunState>(key: LeasedKey<State>): Promise<RunState['lease']> {
  let seen: Versioned<State> = await key.states.change(() => undefined);
  // A run that has had no time at all must not wake the next one at once, for ever.
  let soonestSeconds = 1;
  for (;;) {
    const other = freshLease(seen.state, key.nowMs());
    if (other !== undefined) return other;
    const dueMs = await key.firstDueMs(seen.state);
    if (dueMs === undefined) return undefined;
    if (dueMs > key.nowMs() || !key.mayGoOn()) {
      await wakeAt({ dueMs, soonestSeconds }, seen, key);
      return undefined;
    }
    seen = await workUnderLease(seen, key);
    soonestSeconds = 0;
  }
}

function freshLease({ lease }: RunState, nowMs: number): RunState['lease'] {
  return lease !== undefined && lease.untilMs + clocksApartMs > nowMs ? lease : undefined;
}

async function workUnderLease<State extends RunState>(
  seen: Versioned<State>,
  key: LeasedKey<State>,
): Promise<Versioned<State>> {
  const { leasing, states, messages, nowMs } = key;
  const owner = key.newOwner();
  const isOwn = ({ lease }: State) => lease?.owner === owner;
  let wokenMs = Number.NEGATIVE_INFINITY;
  const leaseFrom = async (atMs: number) => {
    // The wake goes first, and comes when every clock finds this lease over: a death in between is noticed too. While
    // writes fail, the lease counts from the wake before, so that wakes do not pile up.
    if (leasing.renewMs !== undefined && atMs >= wokenMs + leasing.renewMs) {
      await key.wake(Math.ceil((leasing.leaseMs + 2 * clocksApartMs) / 1_000) + 1);
      wokenMs = atMs;
    }
    const fromMs = leasing.renewMs === undefined ? atMs : wokenMs;
    return { fromMs, lease: { owner, untilMs: fromMs + leasing.leaseMs, messages: [...messages] } };
  };
  let fromMs = nowMs();
  const { lease } = await leaseFrom(fromMs);
  const taken = await states.change((before) => {
    if (freshLease(before, fromMs) !== undefined) return undefined;
    return { ...before, lease, wakeAtMs: isComing(before, fromMs) ? before.wakeAtMs : 0 };
  }, seen);
  if (!taken.changed) return taken;
  let isOver = false;
  const mayClaim = () => !isOver && nowMs() < fromMs + leasing.leaseMs && key.mayGoOn();
  const keep = async () => {
    const againMs = nowMs();
    if (leasing.renewMs === undefined || isOver || againMs < fromMs + leasing.renewMs) return;
    const longer = await leaseFrom(againMs);
    const { changed } = await states.change((before) =>
      isOwn(before) ? { ...before, lease: longer.lease } : undefined,
    );
    if (changed) fromMs = longer.fromMs;
    else isOver = true;
  };
  const learnt = await key.work({ state: taken.state, mayClaim, keep });
  isOver = true;
  return await states.change((before) => {
    if (!isOwn(before)) return undefined;
    const { lease: _over, ...free } = learnt(before);
    return free as State;
  });
}

/** A nearer wake may have come already, to a run that found the lease taken. */
function isComing({ wakeAtMs }: RunState, nowMs: number): boolean {
  return wakeAtMs > nowMs + clocksApartMs;
}

/** Sends a wake unless one comes that is early enough, and notes it. A lost note costs another wake. */
async function wakeAt<State extends RunState>(
  { dueMs, soonestSeconds }: { readonly dueMs: number; readonly soonestSeconds: number },
  seen: Versioned<State>,
  { states, wake, nowMs }: LeasedKey<State>,
): Promise<void> {
  const sentAtMs = nowMs();
  const isEnough = (state: State) => isComing(state, sentAtMs) && state.wakeAtMs <= dueMs + wakeLateMs;
  if (isEnough(seen.state)) return;
  const delaySeconds = Math.min(maxDelaySeconds, Math.max(soonestSeconds, Math.ceil((dueMs - sentAtMs) / 1_000)));
  await wake(delaySeconds);
  const wakeAtMs = sentAtMs + delaySeconds * 1_000;
  await states.change((before) => (isEnough(before) ? undefined : { ...before, wakeAtMs }), seen);
}
