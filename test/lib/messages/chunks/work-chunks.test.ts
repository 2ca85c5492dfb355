import { describe, expect, test, vi } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/chunk.ts';
import type { ChunkWorkerPorts } from '../../../../lib/messages/chunks/chunk-ports.ts';
import { workChunks } from '../../../../lib/messages/chunks/work-chunks.ts';
import { opened, unknownBreaker } from '../../../../lib/messages/dispatch/breaker.ts';
import { correlationId } from '../../../../lib/observe/correlation.ts';
import { log } from '../../../../lib/observe/log.ts';
import { metered } from '../../../../lib/observe/metrics.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { bytesWritten } from '../../../support/written-bytes.ts';
import { ChunkRunWorld, chunkOf, deliveriesOf, recipientAt, slicesOf, startMs } from './chunk-run-world.ts';

/* What the deliveries of one run share: the breaker of the platform, and the log. */

// Read when the metrics are first imported: as long as the name of a deployment.
vi.hoisted(() => {
  process.env['POWERTOOLS_SERVICE_NAME'] = 'template-messaging-prod-service';
});

test.each([
  ['is not JSON', '{', 'SyntaxError'],
  ['is no chunk', JSON.stringify({ version: 1, jobId: 'J' }), 'ValiError'],
  ['says no version', JSON.stringify({ jobId: 'J' }), 'ValiError'],
  ['is of a later version (D47)', JSON.stringify({ ...chunkOf(slicesOf(1)), version: 2 }), 'LaterVersion'],
])('a message that %s fails alone, and loudly (R18)', async (_, body, error) => {
  const world = new ChunkRunWorld();
  const [first, last] = [chunkOf(slicesOf(1)), chunkOf(slicesOf(2), { jobId: 'K' })];
  expect(await world.work([first, body, last])).toEqual(['m1']);
  expect([world.outcomes(1), world.outcomes(2, 'K')]).toEqual([['sent'], ['sent', 'sent']]);
  expect(world.facts('dispatch.error')).toEqual([{ error }]);
});

test('a run of which nothing can be read asks for nothing', async () => {
  const world = new ChunkRunWorld();
  expect(await world.work(['{'])).toEqual(['m0']);
  expect([world.breaker.finds, world.calls]).toEqual([0, []]);
});

test('one chunk that comes again keeps no other from being acknowledged', async () => {
  const world = new ChunkRunWorld();
  world.faultOf = (name) => (name === 'sendLater' ? 'fails' : undefined);
  world.send = async (_, index) => {
    if (index === 0) throw new PlatformFailure('not_sent');
    return {};
  };
  const good = chunkOf([{ try: 0, size: 1, recipients: [recipientAt(10)] }], { jobId: 'K' });
  expect(await world.work([chunkOf(slicesOf(1)), good])).toEqual(['m0']);
});

test('a delivery whose wait cannot be set comes again all the same', async () => {
  const world = new ChunkRunWorld();
  world.faultOf = (name) => (name === 'postpone' ? 'fails' : undefined);
  world.send = async () => await world.time.sleep(100).then(() => ({}));
  expect(await world.work([chunkOf(slicesOf(1)), chunkOf(slicesOf(1))])).toHaveLength(1);
  expect(world.facts('dispatch.postpone_failed')).toEqual([{ count: 1, error: 'Error' }]);
});

test('each chunk is told and logged under the id of its own request', async () => {
  const world = new ChunkRunWorld();
  world.send = async () => Promise.reject(new PlatformFailure('ambiguous'));
  const chunks = ['one', 'two', undefined].map((id, at) =>
    chunkOf(slicesOf(1), { jobId: `J${at}`, ...(id === undefined ? {} : { correlationId: id }) }),
  );
  const under: (string | undefined)[] = [];
  await world.work(chunks, { log: (event) => void (event === 'dispatch.unknown' && under.push(correlationId())) });
  expect(under.sort()).toEqual(['one', 'two', undefined]);
  expect(world.events.sent.map((event) => event.correlationId).sort()).toEqual(['one', 'two', undefined]);
});

describe('the log of a run', () => {
  test('is one line for what became of its messages, under the id of its one request, or with the ids', async () => {
    const under: unknown[] = [];
    const world = new ChunkRunWorld();
    const logs = { log: (event: string, facts: object) => void under.push([event, facts, correlationId()]) };
    await world.work([chunkOf(slicesOf(30), { correlationId: 'one' })], logs);
    expect(under.splice(0)).toEqual([['dispatch.batch', { count: 1, tally: { sent: 30 } }, 'one']]);
    const two = ['one', 'two'].map((id) => chunkOf(slicesOf(1), { jobId: id, correlationId: id }));
    await world.work(two, logs);
    const facts = { count: 2, tally: { sent: 2 }, correlationIds: ['one', 'two'] };
    expect(under).toEqual([['dispatch.batch', facts, undefined]]);
  });

  test.each([
    ['thirty messages of a job', 30, 1, 20],
    ['a lone message', 1, 1, 410],
    ['ten requests of one', 1, 10, 120],
  ])('%s write, metrics included, at most so many bytes a message', async (_, recipients, chunks, most) => {
    const world = new ChunkRunWorld();
    const id = (at: number) => String(at).padStart(2, '0');
    const all = Array.from({ length: chunks }, (_each, at) =>
      chunkOf(slicesOf(recipients), {
        jobId: `01KAH00000000000000000JB${id(at)}`,
        correlationId: `00000000-0000-4000-8000-0000000000${id(at)}`,
        receiptsExpected: true,
      }),
    );
    const run = () => world.pass(metered(() => workChunks(deliveriesOf(all), world.ports({ log }))));
    const bytes = await bytesWritten(run);
    expect(world.posted).toHaveLength(recipients * chunks);
    expect(bytes / (recipients * chunks)).toBeGreaterThan(5);
    expect(bytes / (recipients * chunks)).toBeLessThanOrEqual(most);
  });
});

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

describe('the breaker of the platform', () => {
  test('costs one read a run, and no write, while calls are answered', async () => {
    const world = new GuardedWorld();
    await world.dispatch([0, 1, 2]);
    expect([world.breaker.finds, world.breaker.writes, world.probed]).toEqual([1, 0, []]);
  });

  test('opens after a run that nobody answers, nor a read: nothing is claimed or sent from then on', async () => {
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
    expect(world.facts('dispatch.platform_down')).toHaveLength(1);
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

    test('nobody asks before it is time', async () => {
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

    test('a message whose time is over ends so, one that expires comes back when it does (D27)', async () => {
      const world = openWorld();
      await world.dispatch([0], { expiresAtMs: startMs });
      expect(world.outcome(0, 'J0')?.state).toBe('expired');
      await world.dispatch([1], { expiresAtMs: startMs + 1_500 });
      expect(world.requeued).toMatchObject([{ delaySeconds: 2, chunk: { jobId: 'J1' } }]);
      expect(world.posted).toEqual([]);
    });
  });

  test('that cannot be read or written holds nobody back', async () => {
    const world = new GuardedWorld();
    const away = async () => Promise.reject(new Error('the table is away'));
    await world.dispatch([0], {}, { breakers: { find: away, change: away } });
    world.goDown();
    expect(await world.dispatch([1], {}, { breakers: { find: away, change: away } })).toEqual([]);
    expect(world.posted).toHaveLength(2);
    expect(world.facts('dispatch.breaker_failed')).toHaveLength(3);
  });
});
