import { describe, expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import type { Hold } from '../../../../lib/messages/holds/hold.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import {
  failingWith,
  phoneNumberId,
  SliceRunWorld,
  startMs,
  templateScope,
  wabaId,
} from '../sender/slice-run-world.ts';

/** Held messages wait, but one message probes the hold when it is due (D46). */

const number = `number:${phoneNumberId}` as const;
const parked = { code: '131042', scope: 'waba', sinceMs: startMs - 10_000 } as const;
const waiting: DispatchItemState = { begun: true, parked };

/** The WABA could not pay ten seconds ago. */
function dueWorld(size: number, scope: 'waba' | typeof number = 'waba', code = '131042'): SliceRunWorld {
  const world = new SliceRunWorld();
  world.accept(size);
  world.hold(scope, code, startMs - 10_000);
  world.states.set('J', waiting);
  return world;
}

function heldIn(world: SliceRunWorld): Readonly<Partial<Record<string, Hold>>> {
  return world.holds.of(wabaId).holds;
}

describe('when it is time', () => {
  test('one recipient is called; taken, the hold is over', async () => {
    const world = dueWorld(10);
    await world.run();
    expect(world.posted.map(({ index }) => index)).toEqual([0]);
    expect(world.outcomes(10)).toEqual(['sent', ...Array(9).fill('again')]);
    expect(heldIn(world)).toEqual({});
    expect(world.facts('hold.ended')).toHaveLength(1);
    await world.runAll();
    expect(world.outcomes(10)).toEqual(Array(10).fill('sent'));
  });

  test.each([
    ['as before, the hold stays, and is asked later', 131042, 'again', ['waba'], 1],
    ['for a reason of its own, it has failed, and the hold stays', 131026, '131026', ['waba'], 1],
    ['for another hold, both stand', 133010, 'again', ['waba', number], 1],
  ])('refused %s', async (_, code, first, held, asks) => {
    const world = dueWorld(3);
    world.send = failingWith('refused', { code });
    await world.run();
    expect([world.posted.length, world.outcomes(3)]).toEqual([1, [first, 'again', 'again']]);
    const { nextAskMs = 0, askedUntilMs, ...hold } = heldIn(world)['waba'] as Hold;
    expect([Object.keys(heldIn(world)), hold, askedUntilMs]).toEqual([
      held,
      { sinceMs: startMs - 10_000, code: '131042', asks },
      undefined,
    ]);
    expect(nextAskMs - world.nowMs).toBeGreaterThan(19_000);
  });

  test('the one that asks is due, and proven by no receipt', async () => {
    const world = dueWorld(3);
    world.claimedBefore(3, Array(3).fill({ state: 'again', dueMs: startMs }));
    world.prove(0);
    await world.run();
    expect([world.posted.map(({ index }) => index), world.outcomes(3)]).toEqual([[1], ['sent', 'sent', 'again']]);
  });

  test('is not called again in memory: its refusal is the answer, and the hold has its next question', async () => {
    const world = dueWorld(1);
    world.send = failingWith('refused', { code: 130429 });
    await world.run();
    expect([world.posted.length, world.outcomes(1)]).toEqual([1, ['again']]);
  });
});

describe('of a number that gave no clear answer the health is read first', () => {
  const fails = (error: Error) => async () => Promise.reject(error);

  test.each([
    ['it may send', async () => ({ maySend: true }), 1, []],
    ['it is blocked', async () => ({ maySend: false }), 0, [number]],
    ['nothing answers', fails(new PlatformFailure('ambiguous')), 0, [number]],
    ['its credential cannot be read', fails(new Error('no secret')), 0, [number]],
    ['the read is refused, which says nothing', fails(new PlatformFailure('refused', { code: 10 })), 1, []],
  ])('%s', async (_, probe, calls, held) => {
    const world = dueWorld(3, number, 'no_answer');
    world.probe = probe;
    await world.run();
    expect([world.posted.length, Object.keys(heldIn(world))]).toEqual([calls, held]);
    expect(heldIn(world)[number]?.askedUntilMs).toBeUndefined();
  });

  test('a refusal says that it answers: the hold is over; silence leaves it, and costs one message', async () => {
    const refusing = dueWorld(3, number, 'no_answer');
    refusing.send = failingWith('refused', { code: 131026 });
    await refusing.run();
    expect([refusing.outcomes(3), heldIn(refusing)]).toEqual([['131026', 'again', 'again'], {}]);
    const silent = dueWorld(3, number, 'no_answer');
    silent.send = failingWith('ambiguous');
    await silent.run();
    expect([silent.outcomes(3), heldIn(silent)[number]?.asks]).toEqual([['unknown', 'again', 'again'], 1]);
  });

  test('of an account none is: its refusals cost nothing', async () => {
    const world = dueWorld(1);
    world.probe = fails(new Error('not asked'));
    await world.run();
    expect(world.outcomes(1)).toEqual(['sent']);
  });
});

describe('no message is called', () => {
  test('while another run asks, or is first between the look and the question', async () => {
    const world = dueWorld(3);
    const asker = { category: 'MARKETING', path: 'messages', phoneNumberId, templateName: 'a', templateLanguage: 'es' };
    expect(await world.holds.takeProbe(wabaId, { ...asker, path: 'messages' })).toBeDefined();
    await world.run();
    const second = dueWorld(3);
    second.faultOf = (name) => (name === 'askHolds' ? 'fails' : undefined);
    await second.run();
    for (const each of [world, second]) expect([each.posted, each.outcomes(3)]).toEqual([[], Array(3).fill('again')]);
  });

  test('when so little of the question is left that another run may ask meanwhile', async () => {
    const world = dueWorld(1, number, 'no_answer');
    world.probe = async () => await world.time.sleep(40_001).then(() => ({ maySend: true }));
    await world.run();
    expect([world.posted, world.outcomes(1)]).toEqual([[], ['again']]);
  });

  test('when so little of the run is left that its call may be cut off; the question is given back', async () => {
    const world = dueWorld(1, number, 'no_answer');
    world.remainingMs = (bornMs) => bornMs + 17_000 - world.nowMs;
    world.probe = async () => await world.time.sleep(3_000).then(() => ({ maySend: true }));
    await world.run();
    expect([world.posted, world.outcomes(1), heldIn(world)[number]?.askedUntilMs]).toEqual([[], ['again'], undefined]);
  });

  test('whose dispatch was stopped, or whose claimant is dead, and no question is taken for it', async () => {
    const stopped = dueWorld(3);
    stopped.states.set('J', { begun: true, stop: cancelled(startMs) });
    await stopped.run();
    expect([stopped.posted, stopped.outcomes(3)]).toEqual([[], Array(3).fill('cancelled')]);
    const dead = dueWorld(3);
    dead.claimedBefore(3);
    await dead.wait(150_000);
    await dead.run();
    expect([dead.posted, dead.outcomes(3)]).toEqual([[], Array(3).fill('unknown')]);
    expect([stopped.count('askHolds'), dead.count('askHolds')]).toEqual([0, 0]);
  });

  test('that was held between its turn and its claim', async () => {
    const world = new SliceRunWorld();
    world.accept(10);
    world.faultOf = (name) => {
      if (name === 'claimSlice') world.hold('waba', '131042');
      return undefined;
    };
    await world.run();
    expect([world.posted, world.outcomes(10)]).toEqual([[], Array(10).fill('again')]);
  });
});

test('a hold that is over when its question is to be taken is asked by none', async () => {
  const world = dueWorld(3);
  world.states.set('J', { begun: true });
  world.faultOf = (name) => {
    if (name === 'askHolds') world.holds.stored.clear();
    return undefined;
  };
  await world.run();
  expect([world.posted, world.outcomes(3)]).toEqual([[], Array(3).fill('again')]);
});

test('two holds are asked by one message, once both are due', async () => {
  const world = dueWorld(3);
  world.hold(templateScope, '132015', startMs - 5_000);
  await world.run();
  expect([world.posted, world.count('askHolds')]).toEqual([[], 0]);
  await world.wait(15_000);
  await world.runAll();
  expect([heldIn(world), world.outcomes(3)]).toEqual([{}, Array(3).fill('sent')]);
});
