import { describe, expect, test } from 'vitest';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import { opened, unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import type { FlatPorts } from '../../../support/flat-ports.ts';
import { ChunkRunWorld, chunkOf, recipientAt, startMs } from './chunk-run-world.ts';

const { wabaId } = chunkOf([]);

/** The platform's calls and reads answer as the test says. */
class GuardedWorld extends ChunkRunWorld {
  readonly probed: string[] = [];
  silent: (dispatch: number) => boolean = () => false;
  /** The platform answers every call with this code at HTTP 500. */
  trouble: number | undefined;
  readFails: Error | undefined;

  /** Works off one message of each dispatch; every dispatch has its own credential. */
  async dispatch(dispatchIds: readonly number[], changes: Partial<QueuedChunk> = {}, ports: Partial<FlatPorts> = {}) {
    this.answers();
    const chunks = dispatchIds.map((at) =>
      chunkOf([{ try: 0, size: 1, recipients: [recipientAt(at * 10)] }], {
        dispatchId: `J${at}`,
        credential: `c${at}`,
        ...changes,
      }),
    );
    return await this.work(chunks, {
      probe: async ({ credential }) => {
        this.probed.push(credential);
        if (this.readFails !== undefined) throw this.readFails;
        return { maySend: true };
      },
      ...ports,
    });
  }

  answers(): void {
    this.send = async (_, index) => {
      await this.time.sleep(10);
      const { trouble: code } = this;
      if (code !== undefined) throw new PlatformFailure('ambiguous', { httpStatus: 500, code });
      if (this.silent(index / 10)) throw new PlatformFailure('ambiguous');
      return {};
    };
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
  expect(
    world.requeued.map(({ chunk, delaySeconds }) => [chunk.dispatchId, chunk.slices[0]?.try, delaySeconds]),
  ).toEqual([
    ['J2', 0, 5],
    ['J3', 0, 5],
    ['J4', 0, 5],
  ]);
  expect(world.facts('send.platform_down')).toEqual([{ count: 3 }]);
});

describe('while a read is answered, be it by a refusal', () => {
  const numberOf = (world: ChunkRunWorld) => world.holds.of(wabaId).holds['number:300000000000001'];

  function silentWorld(): GuardedWorld {
    const world = new GuardedWorld();
    world.goDown();
    world.readFails = new PlatformFailure('refused', { code: 190 });
    return world;
  }

  test('the third silent run of a number in a row holds that number alone (D46)', async () => {
    const world = silentWorld();
    for (const at of [0, 1]) await world.dispatch([at]);
    expect(numberOf(world)).toBeUndefined();
    const lines = await countedBy(() => world.dispatch([2]));
    expect([numberOf(world)?.code, world.isOpen]).toEqual(['no_answer', false]);
    expect(lines).toMatchObject([{ HoldsOpened: 1 }]);
    const sent = world.posted.length;
    await world.dispatch([3]);
    expect(world.posted).toHaveLength(sent);
    await world.dispatch([4], { phoneNumberId: '2' });
    expect(world.posted).toHaveLength(sent + 1);
  });

  test('numbers of two WABAs at once are the platform', async () => {
    const world = silentWorld();
    for (const at of [0, 1, 2]) await world.dispatch([at]);
    for (const at of [3, 4]) await world.dispatch([at], { wabaId: '2', phoneNumberId: '2' });
    expect(world.isOpen).toBe(false);
    await world.dispatch([5], { wabaId: '2', phoneNumberId: '2' });
    expect(world.isOpen).toBe(true);
    expect(world.facts('platform.down')).toEqual([{ code: 'no_answer_to_messages' }]);
  });

  test('an answer that leaves open what became of the message is one: no read, the number is held, never the platform', async () => {
    const world = silentWorld();
    for (const [at, number] of [1, 1, 1, 2, 2, 2].entries()) {
      world.trouble = 131000;
      await world.dispatch([at], { wabaId: `${number}`, phoneNumberId: `${number}` });
    }
    expect([world.probed, world.isOpen]).toEqual([[], false]);
    expect(world.holds.of('2').holds['number:2']?.code).toBe('131000');
  });

  test('an answer about a person at HTTP 500 says nothing of the number, however many runs in a row have it', async () => {
    const world = silentWorld();
    for (const [at, code] of [131049, 131026, 130497, 131049, 131050].entries()) {
      world.trouble = code;
      await world.dispatch([at]);
    }
    expect([world.probed, world.isOpen, world.holds.stored.size]).toEqual([[], false, 0]);
  });

  test('an answer between them breaks the row; a run of which no credential can be read is none', async () => {
    const world = silentWorld();
    world.silent = (dispatch) => dispatch !== 2;
    for (const at of [0, 1, 2, 3, 4]) await world.dispatch([at]);
    expect([numberOf(world), world.holds.of(wabaId).silences]).toMatchObject([
      undefined,
      { 300000000000001: { runs: 2 } },
    ]);
    const blind = silentWorld();
    blind.readFails = new Error('no secret');
    for (const at of [0, 1, 2, 3]) await blind.dispatch([at]);
    expect([blind.breaker.writes, blind.holds.stored.size]).toEqual([0, 0]);
  });

  test('of a run with two numbers, one of them silent, only that one counts', async () => {
    const world = silentWorld();
    world.silent = (dispatch) => dispatch === 1;
    const one = (at: number, phoneNumberId: string) =>
      chunkOf([{ try: 0, size: 1, recipients: [recipientAt(at * 10)] }], { dispatchId: `J${at}`, phoneNumberId });
    world.answers();
    await world.work([one(0, '1'), one(1, '2')], { probe: async () => ({ maySend: true }) });
    expect(world.holds.of(wabaId).silences).toMatchObject({ 2: { runs: 1 } });
    expect(Object.keys(world.holds.of(wabaId).silences)).toEqual(['2']);
  });
});

test('after numbers of two WABAs fell silent one message of a run goes ahead, and the others with it once that is answered', async () => {
  const world = new GuardedWorld();
  world.breaker.stored = { ...unknownBreaker, silentWabas: { [wabaId]: startMs, 2: startMs } };
  const ten = [{ try: 0, size: 10, recipients: Array.from({ length: 10 }, (_, index) => recipientAt(index)) }];
  const sendTo = async (dispatchId: string, answerMs: number, silent: boolean) => {
    world.send = async () => {
      await world.time.sleep(answerMs);
      if (silent) throw new PlatformFailure('ambiguous');
      return {};
    };
    await world.work([chunkOf(ten, { dispatchId })]);
    return world.posted.splice(0).length;
  };
  expect(await sendTo('J10', 1_000, true)).toBe(1);
  expect(world.outcomes(10, 'J10')).toEqual(['unknown', ...Array(9).fill('again')]);
  await world.wait(20_000);
  // The third slot is 28 ms after the first.
  expect(await sendTo('J11', 20, false)).toBe(9);
  expect(world.outcomes(10, 'J11')).toEqual(['sent', 'again', ...Array(8).fill('sent')]);
  expect(world.breaker.stored.silentWabas).toEqual({ 2: startMs });
  expect(await sendTo('J12', 1_000, false)).toBe(10);
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
  // The slots of the two dispatches are a few milliseconds apart.
  world.silent = (dispatch) => dispatch === 0;
  await world.dispatch([0, 1]);
  expect(world.probed).toEqual([]);
  world.readFails = undefined;
  world.silent = (dispatch) => dispatch === 3;
  await world.dispatch([2, 3]);
  expect([world.probed, world.breaker.writes]).toEqual([['c2'], 0]);
  world.goDown();
  world.silent = (dispatch) => dispatch === 5;
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

  test('the run whose turn it is asks with a read; silence keeps the breaker open for longer, and is counted', async () => {
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
    const change: FlatPorts['breakers']['change'] = async (...asked) => {
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
    expect(world.requeued).toMatchObject([{ delaySeconds: 2, chunk: { dispatchId: 'J1' } }]);
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
  expect(world.facts('send.breaker_failed')).toEqual(Array(3).fill({ error: 'Error' }));
});
