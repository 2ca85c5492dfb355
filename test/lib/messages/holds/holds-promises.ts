import { scopesOf } from '../../../../lib/messages/holds/scope.ts';
import { begunItem } from '../../../support/messages-table/dispatch-item.ts';
import { keyOf } from './holds-key.ts';
import { dispatchOf, done, kinds, nameOf } from './holds-model.ts';
import { nextMs, type World, waiting, withRun } from './holds-space.ts';

/** A world is played to its end only once; its key stays here. */
export interface Mended {
  readonly keys: Set<string>;
}

/** Throws when a promise is broken now, or would be once the platform is repaired and faults end. */
export function checkPromises(world: World, before: World, mended: Mended): void {
  if (world.wrong !== null) throw new Error(world.wrong);
  for (const { id, taken, outcome } of world.messages) {
    const known = before.messages.find((message) => message.id === id)?.outcome;
    if (known !== undefined && known !== outcome) throw new Error('R14: a message that had ended ends otherwise');
    if (taken > 1) throw new Error('R13: a message was taken twice');
    if (outcome === 'sent' && taken === 0) throw new Error('R14: counts as sent, and was not taken');
    if ((outcome === 'failed' || outcome === 'expired') && taken > 0)
      throw new Error('R14: counts as unsent, and was taken');
  }
  checkQuestions(world);
  if (world.runs.length === 0 && world.words.length === 0) checkAfterwards(world, mended);
}

/** Each hold has at most one probe at the platform. */
function checkQuestions({ runs }: World): void {
  const asking = runs
    .filter(({ phase }) => phase === 'calling')
    .flatMap(({ question }) => question?.of.map(({ scope, sinceMs }) => nameOf(scope, sinceMs)) ?? []);
  if (new Set(asking).size < asking.length) throw new Error('D46: two messages ask for one hold');
}

/** The longest waits of all messages need fewer steps. */
const mostSteps = 500;

/**
 * With a repaired platform all waiting messages leave without another writer, and a later message of each dispatch ends
 * the remaining holds.
 */
function checkAfterwards(world: World, { keys }: Mended): void {
  const passed: string[] = [];
  let next: World = { ...world, broken: {}, left: { ...world.left, runs: Number.POSITIVE_INFINITY } };
  let isSecond = false;
  for (let step = 0; step < mostSteps; step += 1) {
    const key = `${isSecond} ${keyOf(next)}`;
    if (keys.has(key)) break;
    passed.push(key);
    const onward = stepAfterwards(next);
    if (onward !== undefined) {
      if (onward.wrong !== null) throw new Error(onward.wrong);
      next = onward;
      continue;
    }
    if (isSecond) {
      checkRest(next);
      break;
    }
    isSecond = true;
    checkEnds(next);
    const fresh = (id: string) => ({ id, dueMs: next.nowMs, taken: 0 });
    next = {
      ...next,
      dispatches: { A: begunItem, B: begunItem },
      expiresAtMs: {},
      messages: [...next.messages, fresh('A-later'), fresh('B-later')],
    };
  }
  if (passed.length === mostSteps) throw new Error('R14: something waits for ever');
  for (const key of passed) keys.add(key);
}

/** Returns the next step without faults: a message, or time; undefined at rest. */
function stepAfterwards(world: World): World | undefined {
  const due = waiting(world).find(({ dueMs }) => dueMs <= world.nowMs);
  if (due !== undefined) return worked(withRun(world, due.id));
  const atMs = nextMs(world);
  return atMs === undefined ? undefined : { ...world, nowMs: atMs };
}

function worked(world: World): World {
  let next = world;
  for (let [run] = next.runs; run !== undefined; [run] = next.runs) {
    const { store, run: after } = done(next, run);
    next = { ...next, ...store, runs: after === undefined ? [] : [after] };
  }
  return next;
}

function checkEnds({ dispatches, expiresAtMs, messages }: World): void {
  for (const { id, outcome } of messages) {
    const { stop } = dispatches[dispatchOf(id)];
    const mayBe = [
      'sent',
      'unknown',
      ...(stop?.state === 'failed' ? ['failed'] : []),
      ...(expiresAtMs[dispatchOf(id)] || stop?.state === 'expired' ? ['expired'] : []),
    ];
    if (outcome === undefined || !mayBe.includes(outcome)) throw new Error(`R14: ${id} ends ${outcome}`);
  }
}

function checkRest({ holds, messages }: World): void {
  for (const { id, outcome } of messages.slice(-2))
    if (outcome !== 'sent') throw new Error(`D46: ${id} ends ${outcome}`);
  const asked = Object.values(kinds).flatMap(scopesOf);
  if (asked.some((scope) => holds.holds[scope] !== undefined))
    throw new Error('D46: a hold outlives its repair for ever');
}
