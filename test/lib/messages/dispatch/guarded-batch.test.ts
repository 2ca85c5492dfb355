import { describe, expect, test } from 'vitest';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/breaker.ts';
import { opened, unknownBreaker } from '../../../../lib/messages/dispatch/breaker.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { dispatchMessage } from '../../../support/scenario-job.ts';
import { countedBy } from '../../../support/counted.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';
import { MemoryBreaker } from '../../../support/memory-breaker.ts';

type Failing = (message: DispatchMessage) => boolean;

/** The dispatch, and a platform that answers as the test says. */
class GuardedWorld extends DispatchWorld {
  readonly breaker = new MemoryBreaker();
  readonly probed: number[] = [];
  fails: Failing = () => false;
  readFails: () => Error | undefined = () => undefined;

  async dispatch(
    indexes: readonly number[],
    changes: Partial<DispatchMessage> = {},
    more: Partial<DispatchPorts> = {},
  ) {
    const ports = this.ports({ breakers: this.breaker, ...more });
    const batch = indexes.map((index) => deliveryOf(dispatchMessage(index, changes), `message-${index}`));
    return await dispatchBatch(batch, {
      ...ports,
      send: async (message) => {
        this.nowMs += 10;
        const handover = await ports.send(message);
        if (this.fails(message)) throw new PlatformFailure('ambiguous');
        return handover;
      },
      probe: async ({ index }) => {
        this.probed.push(index);
        const error = this.readFails();
        if (error !== undefined) throw error;
      },
    });
  }

  get isOpen(): boolean {
    return this.breaker.stored.open !== undefined;
  }

  loggedEvents(): string[] {
    return this.logged.map(({ event }) => event);
  }
}

function down(world: GuardedWorld): void {
  world.fails = () => true;
  world.readFails = () => new PlatformFailure('not_sent');
}

test('a platform that answers costs one read a batch, and no write', async () => {
  const world = new GuardedWorld();
  await world.dispatch([0, 1, 2]);
  expect([world.breaker.finds, world.breaker.writes, world.probed]).toEqual([1, 0, []]);
});

describe('a run that nobody answers', () => {
  test('opens the breaker when a read is not answered either; nothing is claimed or sent from then on', async () => {
    const world = new GuardedWorld();
    down(world);
    const lines = await countedBy(() => world.dispatch([0, 1]));
    expect(lines).toMatchObject([{ MessagesUnknown: 2, PlatformDown: 1 }]);
    expect(world.probed).toEqual([0]);
    expect(world.isOpen).toBe(true);
    const claims = world.store.claims;
    world.storeCalls.length = 0;
    expect(await world.dispatch([2, 3, 4])).toEqual([]);
    expect([world.posted.length, world.storeCalls, world.store.claims]).toEqual([2, [], claims]);
    expect(world.copies.map(({ message, delaySeconds }) => [message.index, message.attempt, delaySeconds])).toEqual([
      [2, 0, 5],
      [3, 0, 5],
      [4, 0, 5],
    ]);
    expect(world.logged.slice(-1)).toMatchObject([{ event: 'dispatch.platform_down', facts: { count: 3 } }]);
  });

  test('one message is enough', async () => {
    const world = new GuardedWorld();
    down(world);
    await world.dispatch([0]);
    expect(world.isOpen).toBe(true);
  });

  test('opens nothing when a read is answered, by a refusal as well, until the third of them in a row', async () => {
    const world = new GuardedWorld();
    down(world);
    world.readFails = () => new PlatformFailure('refused', { code: 190 });
    await world.dispatch([0, 1]);
    await world.dispatch([2]);
    expect(world.isOpen).toBe(false);
    await world.dispatch([3]);
    expect(world.isOpen).toBe(true);
    expect(world.logged.slice(-1)).toMatchObject([{ facts: { code: 'no_answer_to_messages' } }]);
  });

  test('of which the row is broken by one that is answered', async () => {
    const world = new GuardedWorld();
    world.fails = ({ index }) => index !== 2;
    for (const index of [0, 1, 2, 3, 4]) await world.dispatch([index]);
    expect(world.isOpen).toBe(false);
    expect(world.breaker.stored.silentRuns).toBe(2);
  });

  test('opens nothing when no credential can be read', async () => {
    const world = new GuardedWorld();
    world.fails = () => true;
    world.readFails = () => new Error('no secret');
    for (const index of [0, 1, 2, 3]) await world.dispatch([index]);
    expect(world.breaker.writes).toBe(0);
  });

  test('does not ask when the function is about to end', async () => {
    const world = new GuardedWorld();
    down(world);
    let left = 14_000;
    world.fails = () => {
      left = 5_999;
      return true;
    };
    await world.dispatch([0], {}, { remainingMs: () => left });
    expect([world.probed, world.isOpen]).toEqual([[], false]);
  });
});

describe('a run that is answered in part', () => {
  test('and at last: nobody is asked', async () => {
    const world = new GuardedWorld();
    down(world);
    world.fails = ({ index }) => index === 0;
    await world.dispatch([0, 1]);
    expect([world.probed, world.breaker.writes]).toEqual([[], 0]);
  });

  test('and not at last: a read decides', async () => {
    const world = new GuardedWorld();
    world.fails = ({ index }) => index === 1;
    await world.dispatch([0, 1]);
    expect([world.probed, world.breaker.writes]).toEqual([[0], 0]);
    down(world);
    world.fails = ({ index }) => index === 3;
    await world.dispatch([2, 3]);
    expect(world.isOpen).toBe(true);
  });
});

describe('while it is open', () => {
  function openWorld(): GuardedWorld {
    const world = new GuardedWorld();
    world.breaker.stored = opened(world.nowMs)(unknownBreaker) ?? unknownBreaker;
    return world;
  }

  test('nobody asks before it is time', async () => {
    const world = openWorld();
    world.nowMs += 4_999;
    await world.dispatch([0]);
    expect([world.probed, world.posted]).toEqual([[], []]);
  });

  test('whose turn it is asks with a read; silence keeps it open for longer, and is counted', async () => {
    const world = openWorld();
    down(world);
    world.nowMs += 5_000;
    const lines = await countedBy(() => world.dispatch([0, 1]));
    expect(lines).toMatchObject([{ PlatformDown: 1 }]);
    expect([world.probed, world.posted]).toEqual([[0], []]);
    expect(world.copies.map(({ delaySeconds }) => delaySeconds)).toEqual([10, 10]);
  });

  test.each([
    ['an answer', undefined],
    ['a refusal', new PlatformFailure('refused', { code: 100 })],
  ])('%s closes it for everybody, and the messages at hand are sent', async (_, answer) => {
    const world = openWorld();
    world.readFails = () => answer;
    world.nowMs += 7_000;
    expect(await world.dispatch([0, 1])).toEqual([]);
    expect([world.posted.length, world.copies, world.isOpen]).toEqual([2, [], false]);
    expect(world.logged).toContainEqual({ event: 'platform.back', facts: { durationMs: 7_000 } });
  });

  test('somebody else is asking: the messages wait', async () => {
    const world = openWorld();
    world.nowMs += 5_000;
    const change: DispatchPorts['breakers']['change'] = async () => undefined;
    await world.dispatch([0], {}, { breakers: { find: () => world.breaker.find(), change } });
    expect([world.probed, world.posted, world.copies.length]).toEqual([[], [], 1]);
  });

  test('a message whose time is over ends so, one that expires comes back when it does (D27)', async () => {
    const world = openWorld();
    await world.dispatch([0], { expiresAtMs: world.nowMs });
    expect(world.store.claims['J-0']).toMatchObject({ state: 'expired' });
    await world.dispatch([1], { expiresAtMs: world.nowMs + 1_500 });
    expect(world.copies).toMatchObject([{ delaySeconds: 2, message: { index: 1 } }]);
    expect(world.posted).toEqual([]);
  });
});

test('a breaker that cannot be read or written holds nobody back', async () => {
  const world = new GuardedWorld();
  const away = async () => Promise.reject(new Error('the table is away'));
  await world.dispatch([0], {}, { breakers: { find: away, change: away } });
  down(world);
  expect(await world.dispatch([1], {}, { breakers: { find: away, change: away } })).toEqual([]);
  expect(world.posted).toHaveLength(2);
  expect(world.loggedEvents().filter((event) => event === 'dispatch.breaker_failed')).toHaveLength(3);
});
