import type { DispatchItem, DispatchStop } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchWrites } from '../../../../lib/messages/dispatch/item-writes.ts';
import { opened } from '../../../../lib/messages/holds/hold.ts';
import { ended } from '../../../../lib/messages/holds/hold-ends.ts';
import type { HoldScope } from '../../../../lib/messages/holds/scope.ts';
import { dispatchTimeoutMs } from '../../../../lib/messages/send/deadlines.ts';
import type { Step } from '../../../support/exploration.ts';
import { written } from '../../../support/messages-table/dispatch-item.ts';
import { done, failed, openIn, type Run, type Store, withDispatch, withMessage } from './holds-model.ts';

export interface World extends Store {
  readonly runs: readonly Run[];
  /** The platform has said that a scope is free, of the hold that was open then; the word is not written yet. */
  readonly words: readonly { readonly scope: HoldScope; readonly sinceMs: number }[];
  readonly begun: number;
  /** This many events of each kind may still come. */
  readonly left: Readonly<Record<'runs' | 'faults' | 'stalls' | 'breaks' | 'repairs' | 'words' | 'cancels', number>>;
  /** The platform may begin these refusals. */
  readonly breakable: Store['broken'];
}

export function successorsOf(world: World): Step<World>[] {
  return [
    ...ofReceipts(world),
    ...ofPlatform(world),
    ...ofWords(world),
    ...ofClient(world),
    ...ofQueues(world),
    ...world.runs.flatMap((run) => ofRun(world, run)),
  ];
}

function less({ left }: World, what: keyof World['left']): Pick<World, 'left'> {
  return { left: { ...left, [what]: left[what] - 1 } };
}

function ofPlatform(world: World): Step<World>[] {
  const { broken, breakable, left } = world;
  const breaks = Object.entries(breakable).filter(
    ([scope]) => left.breaks > 0 && broken[scope as HoldScope] === undefined,
  );
  const steps = breaks.map(([scope, how]) => {
    const state = { ...world, ...less(world, 'breaks'), broken: { ...broken, [scope]: how } };
    return { does: `the platform refuses ${scope}`, state };
  });
  if (left.repairs === 0) return steps;
  for (const scope of Object.keys(broken) as HoldScope[]) {
    const { [scope]: _mended, ...others } = broken;
    steps.push({ does: `${scope} is mended`, state: { ...world, ...less(world, 'repairs'), broken: others } });
  }
  return steps;
}

/** Receipts come within a minute. */
function ofReceipts(world: World): Step<World>[] {
  const { holds, receipts, nowMs } = world;
  if (receipts === 0) return [];
  const told = opened('waba', { code: '131042', nowMs, afterTaken: true })(holds);
  return [{ does: 'a receipt refuses', state: { ...world, holds: told, receipts: receipts - 1, nowMs: nowMs + 1 } }];
}

/** The reader of a word notes the open hold before it asks the platform, and ends only that hold. */
function ofWords(world: World): Step<World>[] {
  const { holds, broken, left, words } = world;
  const free = openIn(holds).filter(([scope]) => left.words > 0 && broken[scope as HoldScope] === undefined);
  const said = free.map(([scope, { sinceMs }]) => {
    const word = { scope, sinceMs };
    return {
      does: `a read finds ${scope} free`,
      state: { ...world, ...less(world, 'words'), words: [...words, word] },
    };
  });
  const written = words.map((word, at) => {
    const after = ended(word.scope, word.sinceMs, world.nowMs)(holds);
    const { [word.scope]: before } = holds.holds;
    const isOther = after !== holds && before?.sinceMs !== word.sinceMs;
    const wrong = isOther ? 'D46: an old word ends a later hold' : world.wrong;
    return {
      does: `the read of ${word.scope} is written`,
      state: { ...world, holds: after, wrong, words: words.toSpliced(at, 1) },
    };
  });
  return [...said, ...written];
}

function stoppedAs(dispatch: DispatchItem, dispatchId: string, stop: DispatchStop) {
  return written(dispatch, dispatchWrites.stop({ dispatchId, phoneNumberId: '', acceptedAtMs: 0 }, stop));
}

function ofClient(world: World): Step<World>[] {
  const dispatch = world.dispatches.A;
  if (world.left.cancels === 0 || dispatch.stop !== undefined) return [];
  const stopped = stoppedAs(dispatch, 'A', cancelled(world.nowMs));
  return [{ does: 'A is cancelled', state: withDispatch({ ...world, ...less(world, 'cancels') }, 'A', stopped) }];
}

function ofQueues(world: World): Step<World>[] {
  const { runs, left, nowMs } = world;
  const steps: Step<World>[] = [];
  for (const { id } of waiting(world).filter(({ dueMs }) => left.runs > 0 && dueMs <= nowMs)) {
    steps.push({ does: `worker ${world.begun} takes ${id}`, state: { ...withRun(world, id), ...less(world, 'runs') } });
  }
  const next = nextMs(world);
  if (runs.length === 0 && left.runs > 0 && next !== undefined) {
    steps.push({ does: `${(next - nowMs) / 1_000} s pass`, state: { ...world, nowMs: next } });
  }
  // A call times out after ten seconds. In any other step a slow worker outlives its lease and is killed.
  const isCalling = runs.some(({ phase }) => phase === 'calling');
  const stallMs = isCalling ? 10_000 : 61_000;
  const isAlive = runs.every(({ startedMs }) => nowMs - startedMs < dispatchTimeoutMs);
  const mayStall =
    isAlive && runs.every(({ phase, calledAtMs = nowMs }) => phase !== 'calling' || nowMs - calledAtMs < 1_000);
  if (runs.length > 0 && left.stalls > 0 && mayStall) {
    steps.push({
      does: `workers are slow by ${stallMs / 1_000} s`,
      state: { ...world, ...less(world, 'stalls'), nowMs: nowMs + stallMs },
    });
  }
  return steps;
}

/** Returns unfinished messages without a worker. */
export function waiting({ messages, runs }: World): readonly World['messages'][number][] {
  return messages.filter(({ id, outcome }) => outcome === undefined && runs.every(({ message }) => message !== id));
}

/** Returns when the next queued message becomes visible; undefined when one is visible, or none will be. */
export function nextMs(world: World): number | undefined {
  const dues = waiting(world).map(({ dueMs }) => dueMs);
  const next = Math.min(...dues);
  return Number.isFinite(next) && next > world.nowMs ? next : undefined;
}

export function withRun(world: World, message: string): World {
  const run: Run = { number: world.begun, startedMs: world.nowMs, message, phase: 'look', saw: [] };
  return { ...world, begun: world.begun + 1, runs: [...world.runs, run] };
}

function ofRun(world: World, run: Run): Step<World>[] {
  const does = `${run.phase} of worker ${run.number}`;
  const goOn = ({ store, run: after }: ReturnType<typeof done>): World => {
    const runs = world.runs.flatMap((other) => (other !== run ? [other] : after === undefined ? [] : [after]));
    return { ...world, ...store, runs };
  };
  const next = done(world, run);
  const steps: Step<World>[] = [{ does, state: goOn(next) }];
  if (world.left.faults === 0) return steps;
  const harmed = (state: World): World => ({ ...state, ...less(world, 'faults') });
  // The worker that finds a dead claim ends it: a message that may have been called is never called again.
  const dead = run.phase === 'look' ? world : withMessage(world, run.message, { outcome: 'unknown' });
  const runs = world.runs.filter((other) => other !== run);
  steps.push({ does: `worker ${run.number} dies before ${run.phase}`, state: harmed({ ...dead, runs }) });
  if (run.phase === 'call' || run.phase === 'calling' || run.phase === 'end') return steps;
  steps.push({ does: `${does} fails`, state: harmed(goOn(failed(world, run))) });
  if (run.phase !== 'look')
    steps.push({ does: `${does}, its reply lost`, state: harmed(goOn(failed(next.store, run))) });
  return steps;
}
