import { describe, expect, test } from 'vitest';
import type { CallFacts } from '../../../../lib/messages/dispatch/call-facts.ts';
import { callFactsOf } from '../../../../lib/messages/dispatch/call-facts.ts';
import { type Breakers, opened, unknownBreaker } from '../../../../lib/messages/holds/breaker.ts';
import { runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import { type GuardPorts, guardRun } from '../../../../lib/messages/send/circuit-breaker-run.ts';
import type { LogFacts } from '../../../../lib/observe/log.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { countedBy } from '../../../support/counted.ts';
import { MemoryBreaker } from '../../../support/memory-breaker.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';

const { wabaId, phoneNumberId } = scenarioHead;
const silence = new PlatformFailure('ambiguous');
const numberScope = `number:${phoneNumberId}` as const;

type Answers = readonly (Error | undefined)[];

/** Runs with calls to one number, one after the other; the platform's calls and reads answer as the test says. */
class GuardedWorld {
  nowMs = startMs;
  readonly breaker = new MemoryBreaker();
  readonly holds = new MemoryHolds(() => this.nowMs);
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];
  probed = 0;
  posted = 0;
  readFails: Error | undefined;
  remainingMs = 60_000;

  /** Makes a run with these answers to its calls. Returns what it says while the platform is down. */
  async run(answers: Answers, changes: Partial<CallFacts> = {}, breakers: Breakers = this.breaker) {
    const facts = { ...callFactsOf(scenarioHead, { limitPerSecond: 80 }), ...changes };
    const guarded = await guardRun(facts, this.#ports(breakers, answers));
    if (guarded.outage !== undefined) return guarded.outage;
    const { path, credential } = facts;
    const posting = { wabaId: facts.wabaId, phoneNumberId: facts.phoneNumberId, path, credential, request: {} };
    const ends = [];
    for (const _ of answers) {
      ends.push(
        await guarded.send(posting).then(
          () => 'answered',
          ({ kind }: PlatformFailure) => kind,
        ),
      );
      this.nowMs += 10;
    }
    await guarded.end();
    return ends;
  }

  #ports(breakers: Breakers, answers: Answers): GuardPorts {
    const nowMs = () => this.nowMs;
    const log: GuardPorts['log'] = (event, facts) => void this.logged.push({ event, facts });
    const fails = async () => Promise.reject(new Error('not in this world'));
    const holds = runHolds({ states: { stop: fails }, wabas: this.holds, nowMs, log });
    holds.saw(wabaId, this.holds.of(wabaId));
    const left = [...answers];
    return {
      ...{ breakers, holds, nowMs, log, random: () => 0, remainingMs: () => this.remainingMs },
      probe: async () => {
        this.probed += 1;
        if (this.readFails !== undefined) throw this.readFails;
      },
      send: async () => {
        this.posted += 1;
        const error = left.shift();
        if (error !== undefined) throw error;
        return { platformMessageId: 'p' };
      },
    };
  }

  get isOpen(): boolean {
    return this.breaker.stored.open !== undefined;
  }

  facts(event: string): LogFacts[] {
    return this.logged.filter((line) => line.event === event).map(({ facts }) => facts);
  }
}

test('costs one read a run, and no write, while calls are answered; nothing where there is nothing to call', async () => {
  const world = new GuardedWorld();
  await world.run([undefined, undefined]);
  expect([world.breaker.finds, world.breaker.writes, world.probed]).toEqual([1, 0, 0]);
});

test('opens after a run without any answer, of a read neither: no run calls from then on', async () => {
  const world = new GuardedWorld();
  world.readFails = new PlatformFailure('not_sent');
  expect(await countedBy(() => world.run([silence]))).toMatchObject([{ PlatformDown: 1 }]);
  expect([world.probed, world.isOpen, world.facts('platform.down')]).toEqual([1, true, [{ code: 'no_answer' }]]);
  const outage = await world.run([undefined]);
  expect(outage).toMatchObject({ sinceMs: world.nowMs });
  expect([world.probed, world.posted]).toEqual([1, 1]);
});

describe('while a read is answered, be it by a refusal', () => {
  function silentWorld(readFails: Error | undefined = new PlatformFailure('refused', { code: 190 })): GuardedWorld {
    const world = new GuardedWorld();
    world.readFails = readFails;
    return world;
  }

  test('the third silent run of a number in a row holds that number alone (D46)', async () => {
    const world = silentWorld();
    for (const _ of [1, 2]) await world.run([silence]);
    expect(world.holds.of(wabaId).holds[numberScope]).toBeUndefined();
    expect(await countedBy(() => world.run([silence]))).toMatchObject([{ HoldsOpened: 1 }]);
    expect([world.holds.of(wabaId).holds[numberScope]?.code, world.isOpen]).toEqual(['no_answer', false]);
    expect(Object.keys(world.holds.of(wabaId).holds)).toEqual([numberScope]);
  });

  test('numbers of two WABAs at once are the platform', async () => {
    const world = silentWorld();
    const other = { wabaId: '2', phoneNumberId: '2' };
    for (const _ of [1, 2, 3]) await world.run([silence]);
    for (const _ of [1, 2]) await world.run([silence], other);
    expect(world.isOpen).toBe(false);
    await world.run([silence], other);
    expect([world.isOpen, world.facts('platform.down')]).toEqual([true, [{ code: 'no_answer_to_messages' }]]);
  });

  test('an answer that leaves open what became of the message is one: no read, the number is held, never the platform', async () => {
    const world = silentWorld();
    const trouble = new PlatformFailure('ambiguous', { httpStatus: 500, code: 131000 });
    for (const number of ['1', '1', '1', '2', '2', '2']) {
      await world.run([trouble], { wabaId: number, phoneNumberId: number });
    }
    expect([world.probed, world.isOpen]).toEqual([0, false]);
    expect(world.holds.of('2').holds['number:2']?.code).toBe('131000');
  });

  test('an answer about a person at HTTP 500 says nothing of the number, however many runs in a row have it', async () => {
    const world = silentWorld();
    for (const code of [131049, 131026, 130497, 131049, 131050]) {
      await world.run([new PlatformFailure('ambiguous', { httpStatus: 500, code })]);
    }
    expect([world.probed, world.isOpen, world.holds.stored.size]).toEqual([0, false, 0]);
  });

  test('an answer between them breaks the row; a run of which no credential can be read is none', async () => {
    const world = silentWorld();
    for (const answer of [silence, silence, undefined, silence, silence]) await world.run([answer]);
    const { holds, silences } = world.holds.of(wabaId);
    expect([holds, silences]).toMatchObject([{}, { [phoneNumberId]: { runs: 2 } }]);
    const blind = silentWorld(new Error('no secret'));
    for (const _ of [0, 1, 2, 3]) await blind.run([silence]);
    expect([blind.breaker.writes, blind.holds.stored.size]).toEqual([0, 0]);
  });
});

describe('after numbers of two WABAs fell silent', () => {
  function suspectingWorld(): GuardedWorld {
    const world = new GuardedWorld();
    world.breaker.stored = { ...unknownBreaker, silentWabas: { [wabaId]: startMs, 2: startMs } };
    return world;
  }

  test('one message of a run goes ahead, and the others with it once that is answered', async () => {
    const world = suspectingWorld();
    expect(await world.run([undefined, undefined, undefined])).toEqual(Array(3).fill('answered'));
    expect(world.breaker.stored.silentWabas).toEqual({ 2: startMs });
  });

  test('those behind it wait: as not sent, they are tried again', async () => {
    const world = suspectingWorld();
    expect(await world.run([silence, undefined, undefined])).toEqual(['ambiguous', 'not_sent', 'not_sent']);
    expect(world.posted).toBe(1);
  });
});

test.each([
  [5_999, 0],
  [6_000, 1],
])('with %i ms left before the function ends, so many ask: %i', async (left, asked) => {
  const world = new GuardedWorld();
  world.readFails = new PlatformFailure('not_sent');
  world.remainingMs = left;
  await world.run([silence]);
  expect(world.probed).toBe(asked);
});

test('after a run that is answered in part, and not at last, a read decides', async () => {
  const world = new GuardedWorld();
  await world.run([silence, undefined]);
  expect(world.probed).toBe(0);
  await world.run([undefined, silence]);
  expect([world.probed, world.breaker.writes]).toEqual([1, 0]);
  world.readFails = new PlatformFailure('not_sent');
  await world.run([undefined, silence]);
  expect(world.isOpen).toBe(true);
});

describe('while it is open', () => {
  function openWorld(afterMs: number): GuardedWorld {
    const world = new GuardedWorld();
    world.breaker.stored = opened(startMs)(unknownBreaker) ?? unknownBreaker;
    world.nowMs += afterMs;
    return world;
  }

  test('no run asks before it is time', async () => {
    const world = openWorld(4_999);
    expect(await world.run([undefined])).toMatchObject({ sinceMs: startMs });
    expect([world.probed, world.posted]).toEqual([0, 0]);
  });

  test('the run whose turn it is asks with a read; silence keeps the breaker open for longer, and is counted', async () => {
    const world = openWorld(5_000);
    world.readFails = new PlatformFailure('not_sent');
    expect(await countedBy(() => world.run([undefined]))).toMatchObject([{ PlatformDown: 1 }]);
    expect([world.probed, world.posted, world.breaker.stored.open?.probeAtMs]).toEqual([1, 0, world.nowMs + 10_000]);
  });

  test.each([
    ['an answer', undefined],
    ['a refusal', new PlatformFailure('refused', { code: 100 })],
  ])('%s closes it for everybody, and the messages at hand are sent', async (_, answer) => {
    const world = openWorld(7_000);
    world.readFails = answer;
    expect(await world.run([undefined])).toEqual(['answered']);
    expect([world.isOpen, world.facts('platform.back')]).toEqual([false, [{ durationMs: 7_000 }]]);
  });

  test('while another run is asking, this one waits', async () => {
    const world = openWorld(5_000);
    const asking = { find: () => world.breaker.find(), change: async () => undefined };
    expect(await world.run([undefined], {}, asking)).toMatchObject({ sinceMs: startMs });
    expect([world.probed, world.posted]).toEqual([0, 0]);
  });

  test.each([
    ['an answer sends the messages at hand, and another run tells of it', undefined, 1],
    ['silence lets them wait', new PlatformFailure('not_sent'), 0],
  ])('and what came of the read cannot be written: %s', async (_, answer, sent) => {
    const world = openWorld(5_000);
    world.readFails = answer;
    let writes = 0;
    const change: Breakers['change'] = async (...asked) => {
      writes += 1;
      return writes === 1 ? await world.breaker.change(...asked) : undefined;
    };
    await world.run([undefined], {}, { find: () => world.breaker.find(), change });
    expect([world.probed, world.posted, world.facts('platform.back')]).toEqual([1, sent, []]);
  });
});

test('that cannot be read or written holds nothing back', async () => {
  const world = new GuardedWorld();
  world.readFails = new PlatformFailure('not_sent');
  const away = async () => Promise.reject(new Error('the table is away'));
  for (const answer of [undefined, silence]) await world.run([answer], {}, { find: away, change: away });
  expect(world.posted).toBe(2);
  expect(world.facts('send.breaker_failed')).toEqual(Array(3).fill({ error: 'Error' }));
});
