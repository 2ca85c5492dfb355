import { describe, expect, test } from 'vitest';
import type { DispatchItemState } from '../../../../lib/messages/dispatch/item.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import type { Outcome } from '../../../../lib/messages/dispatch/slice.ts';
import type { Hold } from '../../../../lib/messages/holds/hold.ts';
import { claimLifeMs } from '../../../../lib/messages/send/deadlines.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { ChunkRunWorld, chunkOf, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/** Held messages wait, but one message probes the hold when it is due (D46). */

const number = 'number:300000000000001';
const parked = { code: '131042', scope: 'waba', sinceMs: startMs - 10_000 } as const;
const waiting: DispatchItemState = { begun: true, parked, pausedFromMs: startMs - 10_000 };

/** The WABA could not pay ten seconds ago. */
function dueWorld(scope: Parameters<ChunkRunWorld['hold']>[0] = 'waba', code = '131042'): ChunkRunWorld {
  const world = new ChunkRunWorld();
  world.hold(scope, code, startMs - 10_000);
  world.states.set('J', waiting);
  return world;
}

function heldIn(world: ChunkRunWorld): Readonly<Partial<Record<string, Hold>>> {
  return world.holds.of(chunkOf([]).wabaId).holds;
}

describe('when it is time', () => {
  test('one recipient is called; taken, the hold is over, and the dispatch is known to go on', async () => {
    const world = dueWorld();
    await world.work([chunkOf(slicesOf(20))]);
    expect(world.posted.map(({ index }) => index)).toEqual([0]);
    expect(world.outcomes(10)).toEqual(['sent', ...Array(9).fill('again')]);
    expect(heldIn(world)).toEqual({});
    expect(world.states.get('J')).toEqual({ ...waiting, parked: { ...parked, goesOn: true } });
    expect([world.count('watch'), world.facts('hold.ended').length]).toEqual([0, 1]);
    // The other slice and the nine recipients come again and find no hold.
    const later = world.requeued.splice(0);
    expect(later.map(({ delaySeconds }) => delaySeconds)).toEqual([15, 14]);
    await world.wait(16_000);
    for (const { chunk } of later) await world.work([chunk]);
    expect(world.outcomes(20)).toEqual(Array(20).fill('sent'));
  });

  test('refused as before, the hold stays, and is asked later', async () => {
    const world = dueWorld();
    world.send = async () => Promise.reject(new PlatformFailure('refused', { code: 131042 }));
    await world.work([chunkOf(slicesOf(10))]);
    expect([world.posted.length, world.outcomes(10)]).toEqual([1, Array(10).fill('again')]);
    const { nextAskMs = 0, askedUntilMs, ...hold } = heldIn(world)['waba'] as Hold;
    expect([hold, askedUntilMs]).toEqual([{ sinceMs: startMs - 10_000, code: '131042', asks: 1 }, undefined]);
    expect(nextAskMs - world.nowMs).toBeGreaterThan(19_000);
  });

  test('refused for a reason of its own, it has failed, and the hold stays', async () => {
    const world = dueWorld();
    world.send = async () => Promise.reject(new PlatformFailure('refused', { code: 131026 }));
    await world.work([chunkOf(slicesOf(2))]);
    expect([world.outcomes(2), Object.keys(heldIn(world))]).toEqual([['failed', 'again'], ['waba']]);
  });

  test('refused for another hold, both stand', async () => {
    const world = dueWorld();
    world.send = async () => Promise.reject(new PlatformFailure('refused', { code: 133010 }));
    await world.work([chunkOf(slicesOf(2))]);
    expect([world.outcomes(2), Object.keys(heldIn(world))]).toEqual([
      ['again', 'again'],
      ['waba', number],
    ]);
  });

  test('the one that asks is due, and proven by no receipt', async () => {
    const world = dueWorld();
    const recipients = [recipientAt(0, { notBeforeMs: startMs + 60_000 }), recipientAt(1), recipientAt(2)];
    const claim = { key: { dispatchId: 'J', slice: 0 }, owner: 'before', atMs: startMs, try: 0, size: 3 };
    const slices = world.ports().slices;
    await slices.claim(claim);
    await slices.endUncalled(claim, new Map([0, 1, 2].map((place) => [place, { state: 'again', dueMs: startMs }])));
    world.prove(1);
    await world.work([chunkOf([{ try: 1, size: 3, recipients }])]);
    expect([world.posted.map(({ index }) => index), world.outcomes(3)]).toEqual([[2], ['again', 'sent', 'sent']]);
  });
});

describe('of a number that gave no clear answer the health is read first', () => {
  const refusedRead = async () => Promise.reject(new PlatformFailure('refused', { code: 10 }));

  test.each([
    ['it may send', async () => ({ maySend: true }), 1, []],
    ['it is blocked', async () => ({ maySend: false }), 0, [number]],
    ['nothing answers', async () => Promise.reject(new PlatformFailure('ambiguous')), 0, [number]],
    ['its credential cannot be read', async () => Promise.reject(new Error('no secret')), 0, [number]],
    ['the read is refused, which says nothing of the number', refusedRead, 1, []],
  ])('%s', async (_, probe, calls, held) => {
    const world = dueWorld(number, 'no_answer');
    await world.work([chunkOf(slicesOf(3))], { probe });
    expect([world.posted.length, Object.keys(heldIn(world))]).toEqual([calls, held]);
    expect(heldIn(world)[number]?.askedUntilMs).toBeUndefined();
  });

  test('a refusal says that it answers: the hold is over; silence leaves it, and costs one message', async () => {
    const refusing = dueWorld(number, 'no_answer');
    refusing.send = async () => Promise.reject(new PlatformFailure('refused', { code: 131026 }));
    await refusing.work([chunkOf(slicesOf(3))]);
    expect([refusing.outcomes(3), heldIn(refusing)]).toEqual([['failed', 'again', 'again'], {}]);
    const silent = dueWorld(number, 'no_answer');
    silent.send = async () => Promise.reject(new PlatformFailure('ambiguous'));
    await silent.work([chunkOf(slicesOf(3))]);
    expect([silent.outcomes(3), heldIn(silent)[number]?.asks]).toEqual([['unknown', 'again', 'again'], 1]);
  });

  test('the question leaves also when its slot has passed meanwhile', async () => {
    const world = dueWorld(number, 'no_answer');
    const probe = async () => {
      await world.time.sleep(400);
      return { maySend: true };
    };
    await world.work([chunkOf(slicesOf(3))], { probe });
    expect([world.posted.length, heldIn(world)]).toEqual([1, {}]);
  });

  test('of an account none is: its refusals cost nothing', async () => {
    const world = dueWorld();
    await world.work([chunkOf(slicesOf(1))], { probe: async () => Promise.reject(new Error('not asked')) });
    expect(world.outcomes(1)).toEqual(['sent']);
  });
});

test.each([
  ['a write that is slow', 'waba', '131042', 200, 0],
  ['a health read as long as the platform takes', number, 'no_answer', 0, 200],
] as const)(
  '%s uses up no question: the one that asks leaves after its slot as well',
  async (_, scope, code, askMs, probeMs) => {
    const world = dueWorld(scope, code);
    world.latencyOf = (name) => (name === 'askHolds' ? askMs : 0);
    const probe = async () => {
      await world.time.sleep(probeMs);
      return { maySend: true };
    };
    await world.work([chunkOf(slicesOf(3))], { probe });
    expect([world.outcomes(3), heldIn(world)]).toEqual([['sent', 'again', 'again'], {}]);
  },
);

describe('no message is called', () => {
  test('while another worker asks', async () => {
    const world = dueWorld();
    const { wabas } = world.holdsPorts(async (_, effect) => await effect());
    const { category, path, phoneNumberId } = chunkOf([]);
    const asker = { category, path, phoneNumberId, templateName: 'another', templateLanguage: 'es' };
    expect(await wabas.takeProbe(chunkOf([]).wabaId, asker)).toBeDefined();
    await world.work([chunkOf(slicesOf(10))]);
    expect([world.posted, world.table.slices.size, world.requeued.length]).toEqual([[], 0, 1]);
  });

  test('when another worker asks between two looks of this one, and no slice of the chunk is lost (R14)', async () => {
    const world = dueWorld();
    const { wabaId, path } = chunkOf([]);
    const template = { templateName: 'another', templateLanguage: 'es' };
    const about = { ...template, path, category: 'MARKETING', phoneNumberId: '1' };
    // The slot lies beyond the changeable second, so the worker reads the number twice.
    const first = await world.reserved(70);
    world.faultOf = (name) => {
      if (name === 'look' && world.count('look') === 2) void world.holds.takeProbe(wabaId, about);
      return undefined;
    };
    await world.work([chunkOf(slicesOf(30, first + 40))]);
    expect([world.posted, world.count('look')]).toEqual([[], 2]);
    const waiting = world.requeued.flatMap(({ chunk }) => chunk.slices.flatMap(({ recipients }) => recipients));
    expect(waiting.map(({ index }) => index)).toEqual(Array.from({ length: 30 }, (_, index) => index));
  });

  test('when another worker is first between the claim and the question', async () => {
    const world = dueWorld();
    world.faultOf = (name) => (name === 'askHolds' ? 'fails' : undefined);
    await world.work([chunkOf(slicesOf(3))]);
    expect([world.posted, world.outcomes(3)]).toEqual([[], ['again', 'again', 'again']]);
  });

  test('when so little of the question is left that another worker may ask meanwhile', async () => {
    const world = dueWorld(number, 'no_answer');
    const probe = async () => {
      await world.time.sleep(40_001);
      return { maySend: true };
    };
    await world.work([chunkOf(slicesOf(1))], { probe, remainingMs: () => 60_000 });
    expect([world.posted, world.outcomes(1)]).toEqual([[], ['again']]);
  });

  test('when so little of the run is left that its call may be cut off', async () => {
    const world = dueWorld(number, 'no_answer');
    const probe = async () => {
      await world.time.sleep(3_000);
      return { maySend: true };
    };
    await world.work([chunkOf(slicesOf(1))], { probe, remainingMs: () => startMs + 15_000 - world.nowMs });
    expect([world.posted, world.outcomes(1)]).toEqual([[], ['again']]);
  });

  test('whose dispatch was stopped before the claim, and no question is taken for it', async () => {
    const world = dueWorld();
    world.states.set('J', { begun: true, stop: cancelled(startMs) });
    await world.work([chunkOf(slicesOf(3))]);
    expect([world.posted, world.outcomes(3), world.count('askHolds')]).toEqual([[], Array(3).fill('failed'), 0]);
  });

  test('of a slice whose claimant is dead, and no question is taken for it', async () => {
    const world = dueWorld();
    const claim = { key: { dispatchId: 'J', slice: 0 }, owner: 'dead', atMs: startMs - claimLifeMs, try: 0, size: 3 };
    await world.ports().slices.claim(claim);
    await world.work([chunkOf(slicesOf(3))]);
    expect([world.posted, world.outcomes(3), world.count('askHolds')]).toEqual([[], Array(3).fill('unknown'), 0]);
  });

  test('that was held after its place was told: the dispatch is parked, once a run, and watched', async () => {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true });
    world.faultOf = (name) => {
      if (name === 'claimSlice') world.hold('waba', '131042');
      return undefined;
    };
    await world.work([chunkOf(slicesOf(30))]);
    expect([world.posted, world.count('watch'), world.count('park')]).toEqual([[], 1, 1]);
    expect(world.states.get('J')?.parked).toMatchObject({ code: '131042', scope: 'waba' });
  });
});

test.each<[string, (world: ChunkRunWorld) => void, Outcome['state']]>([
  ['the dispatch is cancelled', (world) => void world.states.set('J', { stop: cancelled(startMs) }), 'failed'],
  ['the hold is over', (world) => void world.holds.stored.clear(), 'sent'],
])('where %s before the slot of the one that asks, no slice of the chunk is lost (R14)', async (_, event, state) => {
  const world = dueWorld();
  // The slot lies beyond the changeable second, so the worker reads the number twice.
  const first = await world.reserved(70);
  world.faultOf = (name) => {
    if (name === 'look' && world.count('look') === 2) event(world);
    return undefined;
  };
  await world.work([chunkOf(slicesOf(20, first + 40))]);
  const left = world.requeued.flatMap(({ chunk }) => chunk.slices.flatMap((slice) => slice.recipients));
  const ended = world.outcomes(20).filter((each) => each === state);
  expect([world.count('look'), ended.length]).toEqual([2, 10]);
  expect(left.map(({ index }) => index)).toEqual(Array.from({ length: 10 }, (_, at) => at + 10));
});

test('a hold that is over when its question is to be taken parks no dispatch', async () => {
  const world = dueWorld();
  world.states.set('J', { begun: true });
  world.faultOf = (name) => {
    if (name === 'askHolds') world.holds.stored.clear();
    return undefined;
  };
  await world.work([chunkOf(slicesOf(3))]);
  expect([world.posted, world.outcomes(3), world.states.get('J'), world.count('watch')]).toEqual([
    ...[[], Array(3).fill('again'), { begun: true }, 0],
  ]);
});

test.each<[string, DispatchItemState, Outcome]>([
  ['was cancelled', { begun: true, stop: cancelled(startMs) }, { state: 'failed', code: 'cancelled' }],
  [
    'has waited for a day',
    { begun: true, stop: { state: 'expired', code: 'no_answer', atMs: startMs } },
    { state: 'expired', code: 'no_answer' },
  ],
])('while the platform is down for long, a dispatch that %s ends, and is not parked', async (_, state, outcome) => {
  const world = new ChunkRunWorld();
  world.states.set('J', state);
  const open = { sinceMs: startMs - 30_000, probeAtMs: startMs + 5_000, failedProbes: 3 };
  world.breaker.stored = { ...world.breaker.stored, open };
  await world.work([chunkOf(slicesOf(3))]);
  expect([world.posted, world.requeued, world.count('watch'), world.count('park')]).toEqual([[], [], 0, 0]);
  expect(world.outcome(0)).toEqual(outcome);
});

test('while the platform is down for long, its dispatches are parked with that; a short outage is told to no client', async () => {
  for (const [sinceMs, told] of [
    [startMs - 29_999, 0],
    [startMs - 30_000, 1],
  ] as const) {
    const world = new ChunkRunWorld();
    world.states.set('J', { begun: true });
    world.breaker.stored = {
      ...world.breaker.stored,
      open: { sinceMs, probeAtMs: startMs + 5_000, failedProbes: 3 },
    };
    await world.work([chunkOf(slicesOf(10))]);
    expect([world.posted, world.requeued.length, world.count('watch')]).toEqual([[], 1, told]);
    const reason = { code: 'no_answer', scope: 'platform', sinceMs: startMs };
    expect(world.states.get('J')?.parked).toEqual(told ? reason : undefined);
  }
});
