import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/chunk.ts';
import type { ChunkWorkerPorts } from '../../../../lib/messages/chunks/chunk-ports.ts';
import { opened, unknownBreaker } from '../../../../lib/messages/dispatch/breaker.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { ChunkRunWorld, chunkOf, recipientAt, startMs } from '../chunks/chunk-run-world.ts';

/* What a run of chunks does about the breaker of the platform. */

/** A platform that answers as the test says: calls, and reads. */
class GuardedWorld extends ChunkRunWorld {
  readonly probed: string[] = [];
  silent: (job: number) => boolean = () => false;
  readFails: Error | undefined;

  async dispatch(jobIds: readonly number[], changes: Partial<QueuedChunk> = {}, ports: Partial<ChunkWorkerPorts> = {}) {
    this.send = async (_, index) => {
      await this.time.sleep(10);
      if (this.silent(index / 10)) throw new PlatformFailure('ambiguous');
      return {};
    };
    const chunks = jobIds.map((at) =>
      chunkOf([{ try: 0, size: 1, recipients: [recipientAt(at * 10)] }], {
        jobId: `J${at}`,
        credential: `c${at}`,
        ...changes,
      }),
    );
    return await this.work(chunks, {
      probe: async ({ credential }) => {
        this.probed.push(credential);
        if (this.readFails !== undefined) throw this.readFails;
      },
      ...ports,
    });
  }

  goDown(): void {
    this.silent = () => true;
    this.readFails = new PlatformFailure('not_sent');
  }

  get isOpen(): boolean {
    return this.breaker.stored.open !== undefined;
  }
}

test('costs one read a run, and no write, while calls are answered; nothing where no chunk can be read', async () => {
  const world = new GuardedWorld();
  await world.work(['no chunk']);
  expect(world.breaker.finds).toBe(0);
  await world.dispatch([0, 1, 2]);
  expect([world.breaker.finds, world.breaker.writes, world.probed]).toEqual([1, 0, []]);
});

test('opens after a run without any answer, of a read neither: nothing is claimed or sent from then on', async () => {
  const world = new GuardedWorld();
  world.goDown();
  const lines = await countedBy(() => world.dispatch([0]));
  expect(lines).toMatchObject([{ MessagesUnknown: 1, PlatformDown: 1 }]);
  expect([world.probed, world.isOpen]).toEqual([['c0'], true]);
  expect(world.facts('platform.down')).toEqual([{ code: 'no_answer' }]);
  const calls = world.calls.length;
  expect(await world.dispatch([2, 3, 4])).toEqual([]);
  expect(world.calls.slice(calls)).toEqual(Array(3).fill('sendLater'));
  expect(world.requeued.map(({ chunk, delaySeconds }) => [chunk.jobId, chunk.slices[0]?.try, delaySeconds])).toEqual([
    ['J2', 0, 5],
    ['J3', 0, 5],
    ['J4', 0, 5],
  ]);
  expect(world.facts('dispatch.platform_down')).toEqual([{ count: 3 }]);
});

test('opens after the third such run in a row where a read is answered, be it by a refusal', async () => {
  const world = new GuardedWorld();
  world.goDown();
  world.readFails = new PlatformFailure('refused', { code: 190 });
  await world.dispatch([0, 1]);
  await world.dispatch([2]);
  expect(world.isOpen).toBe(false);
  await world.dispatch([3]);
  expect(world.isOpen).toBe(true);
  expect(world.facts('platform.down')).toEqual([{ code: 'no_answer_to_messages' }]);
});

test('after such a row one message of a run goes ahead, and the others with it once that is answered', async () => {
  const world = new GuardedWorld();
  world.silent = () => true;
  for (const at of [0, 1, 2]) await world.dispatch([at]);
  // A read is answered, and closes the breaker.
  await world.wait(20_000);
  world.posted.length = 0;
  const ten = [{ try: 0, size: 10, recipients: Array.from({ length: 10 }, (_, index) => recipientAt(index)) }];
  const sendTo = async (jobId: string, answerMs: number, silent: boolean) => {
    world.send = async () => {
      await world.time.sleep(answerMs);
      if (silent) throw new PlatformFailure('ambiguous');
      return {};
    };
    await world.work([chunkOf(ten, { jobId })]);
    return world.posted.splice(0).length;
  };
  expect(await sendTo('J10', 1_000, true)).toBe(1);
  expect(world.outcomes(10, 'J10')).toEqual(['unknown', ...Array(9).fill('again')]);
  await world.wait(20_000);
  // The third slot is 28 ms after the first.
  expect(await sendTo('J11', 20, false)).toBe(9);
  expect(world.outcomes(10, 'J11')).toEqual(['sent', 'again', ...Array(8).fill('sent')]);
  expect(await sendTo('J12', 1_000, false)).toBe(10);
});

test('a row that an answer breaks is none; nor is one of which no credential can be read', async () => {
  const world = new GuardedWorld();
  world.silent = (job) => job !== 2;
  for (const at of [0, 1, 2, 3, 4]) await world.dispatch([at]);
  expect([world.isOpen, world.breaker.stored.silentRuns]).toEqual([false, 2]);
  const blind = new GuardedWorld();
  blind.goDown();
  blind.readFails = new Error('no secret');
  for (const at of [0, 1, 2, 3]) await blind.dispatch([at]);
  expect(blind.breaker.writes).toBe(0);
});

test.each([
  [5_999, []],
  [6_000, ['c0']],
])('with %i ms left before the function ends, so many ask: %j', async (left, asked) => {
  const world = new GuardedWorld();
  world.goDown();
  let leftMs = 60_000;
  world.silent = () => {
    leftMs = left;
    return true;
  };
  await world.dispatch([0], {}, { remainingMs: () => leftMs });
  expect(world.probed).toEqual(asked);
});

test('after a run that is answered in part, and not at last, a read decides', async () => {
  const world = new GuardedWorld();
  world.goDown();
  // The slots of the two are a few milliseconds apart.
  world.silent = (job) => job === 0;
  await world.dispatch([0, 1]);
  expect(world.probed).toEqual([]);
  world.readFails = undefined;
  world.silent = (job) => job === 3;
  await world.dispatch([2, 3]);
  expect([world.probed, world.breaker.writes]).toEqual([['c2'], 0]);
  world.goDown();
  world.silent = (job) => job === 5;
  await world.dispatch([4, 5]);
  expect(world.isOpen).toBe(true);
});

describe('while it is open', () => {
  function openWorld(): GuardedWorld {
    const world = new GuardedWorld();
    world.breaker.stored = opened(startMs)(unknownBreaker) ?? unknownBreaker;
    return world;
  }

  test('no run asks before it is time', async () => {
    const world = openWorld();
    await world.wait(4_999);
    await world.dispatch([0]);
    expect([world.probed, world.posted]).toEqual([[], []]);
  });

  test('whose turn it is asks with a read; silence keeps it open for longer, and is counted', async () => {
    const world = openWorld();
    world.goDown();
    await world.wait(5_000);
    const lines = await countedBy(() => world.dispatch([0, 1]));
    expect(lines).toMatchObject([{ PlatformDown: 1 }]);
    expect([world.probed, world.posted]).toEqual([['c0'], []]);
    expect(world.requeued.map(({ delaySeconds }) => delaySeconds)).toEqual([10, 10]);
  });

  test.each([
    ['an answer', undefined],
    ['a refusal', new PlatformFailure('refused', { code: 100 })],
  ])('%s closes it for everybody, and the messages at hand are sent', async (_, answer) => {
    const world = openWorld();
    world.readFails = answer;
    await world.wait(7_000);
    expect(await world.dispatch([0, 1])).toEqual([]);
    expect([world.posted.length, world.requeued, world.isOpen]).toEqual([2, [], false]);
    expect(world.facts('platform.back')).toEqual([{ durationMs: 7_000 }]);
  });

  test('while another run is asking, the chunks wait', async () => {
    const world = openWorld();
    await world.wait(5_000);
    const breakers = { find: () => world.breaker.find(), change: async () => undefined };
    await world.dispatch([0], {}, { breakers });
    expect([world.probed, world.posted, world.requeued.length]).toEqual([[], [], 1]);
  });

  test.each([
    ['an answer sends the messages at hand, and another run tells of it', undefined, 1],
    ['silence lets them wait', new PlatformFailure('not_sent'), 0],
  ])('and what came of the read cannot be written: %s', async (_, answer, sent) => {
    const world = openWorld();
    world.readFails = answer;
    await world.wait(5_000);
    let writes = 0;
    const change: ChunkWorkerPorts['breakers']['change'] = async (...asked) => {
      writes += 1;
      return writes === 1 ? await world.breaker.change(...asked) : undefined;
    };
    await world.dispatch([0], {}, { breakers: { find: () => world.breaker.find(), change } });
    expect([world.probed, world.posted.length, world.requeued.length]).toEqual([['c0'], sent, 1 - sent]);
    expect(world.facts('platform.back')).toEqual([]);
  });

  test('a message whose time is over ends so, one that expires comes back when it does (D27)', async () => {
    const world = openWorld();
    await world.dispatch([0], { expiresAtMs: startMs });
    expect(world.outcome(0, 'J0')?.state).toBe('expired');
    await world.dispatch([1], { expiresAtMs: startMs + 1_500 });
    expect(world.requeued).toMatchObject([{ delaySeconds: 2, chunk: { jobId: 'J1' } }]);
    expect(world.posted).toEqual([]);
  });
});

test('that cannot be read or written holds nothing back', async () => {
  const world = new GuardedWorld();
  const away = async () => Promise.reject(new Error('the table is away'));
  await world.dispatch([0], {}, { breakers: { find: away, change: away } });
  world.goDown();
  expect(await world.dispatch([1], {}, { breakers: { find: away, change: away } })).toEqual([]);
  expect(world.posted).toHaveLength(2);
  expect(world.facts('dispatch.breaker_failed')).toEqual(Array(3).fill({ error: 'Error' }));
});
