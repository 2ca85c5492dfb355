import { describe, expect, test, vi } from 'vitest';
import type { Claim } from '../../../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../../../lib/messages/dispatch/dispatch.ts';
import type { DispatchPorts } from '../../../../lib/messages/dispatch/dispatch-ports.ts';
import type { DispatchMessage } from '../../../../lib/messages/job.ts';
import type { JobState } from '../../../../lib/messages/job-state.ts';
import { blockedUntilMs, perSecondOf, recipientHashOf } from '../../../../lib/messages/pace/number-pace.ts';
import { reserve } from '../../../../lib/messages/pace/reserve.ts';
import { PlatformFailure } from '../../../../lib/platform/failure.ts';
import { dispatchMessage, startMs } from '../../../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../../../support/dispatch-ports.ts';
import { memoryPaces, memoryTenths } from '../../../support/memory-paces.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const number = dispatchMessage(0).phoneNumberId;

/** The dispatch in virtual time, on numbers whose pace is kept. */
class PacedWorld extends DispatchWorld {
  readonly clock = new VirtualClock(startMs);
  readonly paces = memoryPaces();
  readonly calledAtMs: number[] = [];
  readonly statesRead: string[][] = [];
  readonly readAtMs: number[] = [];
  readonly states = new Map<string, JobState>();

  async dispatch(messages: readonly DispatchMessage[], changes: Partial<DispatchPorts> = {}): Promise<string[]> {
    const ports = this.ports({
      paces: this.paces,
      tenths: memoryTenths(),
      jobStates: {
        of: async (jobIds) => {
          this.statesRead.push([...jobIds]);
          this.readAtMs.push(this.clock.nowMs());
          return new Map([...this.states].filter(([jobId]) => jobIds.includes(jobId)));
        },
      },
      nowMs: this.clock.nowMs,
      pause: this.clock.pause,
      ...changes,
    });
    const send: DispatchPorts['send'] = async (message) => {
      this.calledAtMs.push(this.clock.nowMs());
      return await ports.send(message);
    };
    const deliveries = messages.map((message, position) => deliveryOf(message, `message-${position}`));
    return await this.clock.run(dispatchBatch(deliveries, { ...ports, send }));
  }

  async withTurns(count: number): Promise<DispatchMessage[]> {
    const lane = { clientId: 1001, lane: 'job-1' };
    const wanted = { phoneNumberId: number, limitPerSecond: 80, ...lane, count };
    const { firstPosition } = await reserve(this.paces, wanted, this.clock.nowMs());
    return Array.from({ length: count }, (_, at) =>
      dispatchMessage(at, { turn: { ...lane, position: firstPosition + at } }),
    );
  }

  /** Claims that take so long to write. */
  slowClaims(ms: number): Partial<DispatchPorts> {
    const take: DispatchPorts['claims']['take'] = async (claim) => {
      const taken = await this.claims.take(claim);
      await this.clock.pause(ms);
      return taken;
    };
    return { claims: { ...this.claims, take } };
  }
}

const tenSlots = Array.from({ length: 10 }, (_, at) => Math.floor(startMs + 1_500 + (at * 1_000) / 72));

/** Ten messages, 1.5 s before the first of their slots. */
async function tenAhead(world: PacedWorld): Promise<DispatchMessage[]> {
  return (await world.withTurns(118)).slice(108);
}

test('each is called in the millisecond of its slot, all are claimed 50 ms before the first (D43)', async () => {
  const world = new PacedWorld();
  const messages = await tenAhead(world);
  expect(await world.dispatch(messages)).toEqual([]);
  expect(world.calledAtMs).toEqual(tenSlots);
  expect(new Set(Object.values(world.store.claims).map(({ claimedAtMs }) => claimedAtMs))).toEqual(
    new Set([(tenSlots[0] ?? 0) - 50]),
  );
});

test('ten messages of one job cost ten claims, one batch record, one request for its state (R15)', async () => {
  const world = new PacedWorld();
  await world.dispatch(await tenAhead(world), world.slowClaims(5));
  expect(world.storeCalls).toEqual([...Array(10).fill('take'), 'recordBatch']);
  expect(world.statesRead).toEqual([['J']]);
});

test('how the jobs stand is read after every claim of the batch, and before every call', async () => {
  const world = new PacedWorld();
  const order: string[] = [];
  const of: DispatchPorts['jobStates']['of'] = async () => {
    order.push('read');
    return new Map();
  };
  const take: DispatchPorts['claims']['take'] = async (claim) => {
    await world.clock.pause(claim.key.index % 7);
    order.push('claimed');
    return await world.claims.take(claim);
  };
  const send: DispatchPorts['send'] = async () => {
    order.push('called');
    return { platformMessageId: 'p' };
  };
  await world.dispatch(await tenAhead(world), { jobStates: { of }, claims: { ...world.claims, take }, send });
  expect(order).toEqual([...Array(10).fill('claimed'), 'read', ...Array(10).fill('called')]);
});

test.each([
  ['ends before the slots of all', [0, 30]],
  ['ends when the first slot is close', [30, 40]],
])('a claim that is a little slower and %s shares the request for the state of its job', async (_, durationsMs) => {
  const world = new PacedWorld();
  const messages = (await tenAhead(world)).slice(0, 2);
  const take: DispatchPorts['claims']['take'] = async (claim) => {
    await world.clock.pause(durationsMs[claim.key.index - 108] ?? 0);
    return await world.claims.take(claim);
  };
  await world.dispatch(messages, { claims: { ...world.claims, take } });
  expect([world.statesRead, world.posted.length]).toEqual([[['J']], 2]);
});

test('so does what is too late, with those that are being claimed', async () => {
  const world = new PacedWorld();
  const find: DispatchPorts['paces']['find'] = async (phoneNumberId) => {
    if (phoneNumberId !== number) await world.clock.pause(10);
    return await world.paces.find(phoneNumberId);
  };
  const late = dispatchMessage(1, { phoneNumberId: '300000000000002', expiresAtMs: startMs });
  await world.dispatch([dispatchMessage(0), late], { ...world.slowClaims(30), paces: { ...world.paces, find } });
  expect([world.statesRead, world.posted.length]).toEqual([[['J']], 1]);
});

describe('nobody waits to read how the jobs stand for a message', () => {
  /** Two are claimed side by side; what becomes of the second, at once, is `claimOfOther`. */
  async function readBeside(
    world: PacedWorld,
    claimOfOther: (claim: Claim) => Promise<Claim | undefined>,
    claims: Partial<DispatchPorts['claims']> = {},
  ) {
    const messages = (await tenAhead(world)).slice(0, 2);
    const take: DispatchPorts['claims']['take'] = async (claim) => {
      if (claim.key.index === 109) return await claimOfOther(claim);
      await world.clock.pause(5);
      return await world.claims.take(claim);
    };
    await world.dispatch(messages, { claims: { ...world.claims, ...claims, take } });
    expect(world.calledAtMs).toEqual(tenSlots.slice(0, 1));
    return world.readAtMs;
  }
  const claimedAtMs = (tenSlots[0] ?? 0) - 50 + 5;

  test('that somebody else has claimed', async () => {
    const world = new PacedWorld();
    const dead = { at: 'dead/0', state: 'claimed', claimedAtMs: 0 } as const;
    const findBatchRecord = async () => {
      await world.clock.pause(5_000);
      return { 'J-109': { platformMessageId: 'p' } };
    };
    const readAtMs = await readBeside(world, async ({ key }) => ({ key, ...dead }), { findBatchRecord });
    expect(readAtMs).toEqual([claimedAtMs]);
  });

  test('whose claim cannot be written', async () => {
    const broken = async () => Promise.reject(new Error('the table is away'));
    expect(await readBeside(new PacedWorld(), broken)).toEqual([claimedAtMs]);
  });
});

test('one slow claim makes no other message miss its slot', async () => {
  const world = new PacedWorld();
  const take: DispatchPorts['claims']['take'] = async (claim) => {
    if (claim.key.index === 108) await world.clock.pause(900);
    return await world.claims.take(claim);
  };
  await world.dispatch(await tenAhead(world), { claims: { ...world.claims, take } });
  expect(world.calledAtMs.slice(0, 9)).toEqual(tenSlots.slice(1));
  expect(world.calledAtMs).toHaveLength(10);
});

test('a slot that has passed while claiming: the claim is kept, and the message leaves in another', async () => {
  const world = new PacedWorld();
  expect(await world.dispatch([dispatchMessage(0)], world.slowClaims(250))).toEqual([]);
  expect(world.posted).toHaveLength(1);
  expect(world.copies).toEqual([]);
  expect(world.storeCalls.filter((call) => call.startsWith('take'))).toHaveLength(1);
});

describe('a message that misses slot after slot', () => {
  test('gives its claim back after ten of them, and its copy is claimed earlier', async () => {
    const world = new PacedWorld();
    const messages = (await tenAhead(world)).slice(0, 1);
    const oversleep = async (ms: number) => await world.clock.pause(ms + 250);
    expect(await world.dispatch(messages, { pause: oversleep })).toEqual([]);
    expect([world.posted, world.store.claims]).toEqual([[], {}]);
    expect(world.copies).toMatchObject([{ delaySeconds: 0, message: { attempt: 0, missedSlots: 10 } }]);
    expect(world.tallied()).toEqual([{ slot_missed: 10, retry_slot: 1 }]);
  });

  test('gives it back at once when the next is far, and waits in the queue', async () => {
    const world = new PacedWorld();
    const messages = await world.withTurns(1);
    const take: DispatchPorts['claims']['take'] = async (claim) => {
      const taken = await world.claims.take(claim);
      await world.withTurns(72 * 10);
      await world.clock.pause(250);
      return taken;
    };
    expect(await world.dispatch(messages, { claims: { ...world.claims, take } })).toEqual([]);
    expect([world.posted, world.store.claims]).toEqual([[], {}]);
    expect(world.copies).toMatchObject([{ delaySeconds: 8, message: { attempt: 0, missedSlots: 1 } }]);
    expect(world.tallied()).toEqual([{ slot_missed: 1, retry_slot: 1 }]);
  });

  test.each([
    ['before its next slot', 300],
    ['before it is given one', 255],
  ])('is not sent when it expires %s (D27)', async (_, expiresAfterMs) => {
    const world = new PacedWorld();
    const message = dispatchMessage(0, { expiresAtMs: startMs + expiresAfterMs });
    expect(await world.dispatch([message], world.slowClaims(250))).toEqual([]);
    expect([world.posted, world.copies]).toEqual([[], []]);
    expect(world.store.claims['J-0']).toMatchObject({ state: 'expired' });
  });
});

test('messages that miss their slots together are given others by one write, as far apart', async () => {
  const world = new PacedWorld();
  const messages = await tenAhead(world);
  const change = vi.spyOn(world.paces, 'change');
  await world.dispatch(messages, world.slowClaims(900));
  expect(change).toHaveBeenCalledTimes(1);
  const gaps = world.calledAtMs.slice(1).map((atMs, index) => atMs - (world.calledAtMs[index] ?? 0));
  expect([world.posted.length, Math.min(...gaps) >= 13]).toEqual([10, true]);
});

test('while no new slot can be had, the claim is given back and no delivery is used up', async () => {
  const world = new PacedWorld();
  const messages = await tenAhead(world);
  const paces = { ...world.paces, change: async () => Promise.reject(new Error('the table is away')) };
  expect(await world.dispatch(messages, { ...world.slowClaims(900), paces })).toEqual([]);
  expect([world.posted, world.store.claims, world.copies.length]).toEqual([[], {}, 10]);
});

test('a far slot is queued again for its time, nothing is claimed', async () => {
  const world = new PacedWorld();
  const last = (await world.withTurns(72 * 60)).at(-1) ?? dispatchMessage(0);
  expect(await world.dispatch([last])).toEqual([]);
  expect(world.copies).toEqual([{ message: last, delaySeconds: 58 }]);
  expect(world.storeCalls).toEqual([]);
});

test('a message that expires before its slot comes again when it expires, and is told then (D27)', async () => {
  const world = new PacedWorld();
  const last = (await world.withTurns(72 * 60)).at(-1) ?? dispatchMessage(0);
  const message = { ...last, expiresAtMs: startMs + 9_500 };
  await world.dispatch([message]);
  expect(world.copies[0]?.delaySeconds).toBe(10);
  await world.clock.run(world.clock.pause(10_000));
  await world.dispatch([world.copies[0]?.message ?? message]);
  expect(world.store.claims[`J-${message.index}`]).toMatchObject({ state: 'expired' });
  expect(world.posted).toEqual([]);
});

test('while paces cannot be written nothing is claimed, and no delivery is used up', async () => {
  const world = new PacedWorld();
  const paces = { ...world.paces, change: async () => Promise.reject(new Error('the table is away')) };
  expect(await world.dispatch([dispatchMessage(0)], { paces })).toEqual([]);
  expect(world.storeCalls).toEqual([]);
  expect(world.copies).toMatchObject([{ delaySeconds: 5, message: { attempt: 1, attempts: { claims: 1 } } }]);
});

describe('what its job says, between claim and call (D46, D53)', () => {
  test('stopped: it ends so without a call', async () => {
    const world = new PacedWorld();
    world.states.set('J', { stop: { state: 'failed', code: 'cancelled', atMs: startMs } });
    const other = dispatchMessage(0, { jobId: 'K' });
    expect(await world.dispatch([dispatchMessage(0), other])).toEqual([]);
    expect(world.posted).toEqual([other].map((message) => expect.objectContaining({ jobId: message.jobId })));
    expect(world.store.claims['J-0']).toMatchObject({ state: 'failed', code: 'cancelled' });
    expect(world.events.sent).toMatchObject([{ type: 'message.failed', data: { code: 'cancelled' } }]);
  });

  test('parked: the claim is given back, a copy waits, and it counts as no attempt', async () => {
    const world = new PacedWorld();
    world.states.set('J', { parked: { code: 'template_paused', sinceMs: startMs - 200_000 } });
    expect(await world.dispatch([dispatchMessage(0)])).toEqual([]);
    expect([world.posted, world.store.claims]).toEqual([[], {}]);
    expect(world.copies).toMatchObject([{ delaySeconds: 50, message: { attempt: 0 } }]);
  });

  test('not to be read: nothing is sent, and it is tried again', async () => {
    const world = new PacedWorld();
    const jobStates = { of: async () => Promise.reject(new Error('the table is away')) };
    expect(await world.dispatch([dispatchMessage(0)], { jobStates })).toEqual([]);
    expect([world.posted, world.store.claims]).toEqual([[], {}]);
    expect(world.copies).toMatchObject([{ message: { attempts: { claims: 1 } } }]);
    expect(world.tallied()).toEqual([{ job_not_read_Error: 1, retry_claims: 1 }]);
  });
});

describe('what calls teach about the pace of their number', () => {
  const refusing = (code: number): Partial<DispatchPorts> => ({
    send: async () => Promise.reject(new PlatformFailure('refused', { code })),
  });

  function perSecond(world: PacedWorld): number {
    const pace = world.paces.stored.get(number);
    return pace === undefined ? 80 : perSecondOf(80, pace, world.clock.nowMs());
  }

  test('130429: a quarter slower, once for the whole batch', async () => {
    const world = new PacedWorld();
    const messages = await world.withTurns(10);
    let writes = 0;
    const change: DispatchPorts['paces']['change'] = async (...args) => {
      writes += 1;
      return await world.paces.change(...args);
    };
    await world.dispatch(messages, { ...refusing(130429), paces: { ...world.paces, change } });
    expect(perSecond(world)).toBe(60);
    expect(writes).toBe(1);
    expect(world.copies).toHaveLength(10);
  });

  test('calls used up, by the usage header: the same, and the message counts as sent', async () => {
    const world = new PacedWorld();
    await world.dispatch([dispatchMessage(0)], { send: async () => ({ platformMessageId: 'p', usagePercent: 100 }) });
    expect(perSecond(world)).toBe(60);
    expect(world.store.batches['run-1']).toEqual({ 'J-0': { platformMessageId: 'p' } });
  });

  test.each([99, undefined])('a usage of %s teaches nothing', async (usagePercent) => {
    const world = new PacedWorld();
    const handover = { platformMessageId: 'p', ...(usagePercent === undefined ? {} : { usagePercent }) };
    await world.dispatch([dispatchMessage(0)], { send: async () => handover });
    expect(perSecond(world)).toBe(80);
  });

  test.each([4, 80007, 80008])('%i: the calls of an hour are used up, which is no word on the number', async (code) => {
    const world = new PacedWorld();
    const failure = new PlatformFailure('refused', { code, retryAfterSeconds: 660 });
    await world.dispatch([dispatchMessage(0)], { send: async () => Promise.reject(failure) });
    expect(perSecond(world)).toBe(80);
    expect(world.copies).toMatchObject([{ delaySeconds: 660, message: { attempts: { quota: 1 } } }]);
  });

  test('131056: that person is remembered until the message comes again; another job waits as long', async () => {
    const world = new PacedWorld();
    await world.dispatch([dispatchMessage(0, { attempt: 2, attempts: { pair: 2 } })], refusing(131056));
    expect(world.copies).toMatchObject([{ delaySeconds: 16, message: { attempts: { pair: 3 } } }]);
    const pace = await world.paces.find(number);
    const hash = recipientHashOf('5491100000000');
    expect(blockedUntilMs(pace, hash, world.clock.nowMs())).toBe(world.clock.nowMs() + 16_000);
    await world.dispatch([dispatchMessage(7, { jobId: 'K' })]);
    expect(world.copies[1]).toMatchObject({ delaySeconds: 16, message: { attempt: 0 } });
    expect(world.posted).toEqual([]);
  });

  test('what cannot be written down is no reason to lose the message', async () => {
    const world = new PacedWorld();
    const messages = await world.withTurns(1);
    const paces = { ...world.paces, change: async () => Promise.reject(new Error('the table is away')) };
    expect(await world.dispatch(messages, { ...refusing(130429), paces })).toEqual([]);
    expect(world.copies).toHaveLength(1);
  });
});

test('attempts of one kind do not make the wait of another longer', async () => {
  const world = new PacedWorld();
  const throttled = { send: async () => Promise.reject(new PlatformFailure('refused', { code: 130429 })) };
  await world.dispatch([dispatchMessage(0, { attempt: 8, attempts: { unreachable: 8 } })], throttled);
  expect(world.copies.map(({ delaySeconds }) => delaySeconds)).toEqual([1]);
  expect(world.copies).toMatchObject([{ message: { attempt: 9, attempts: { unreachable: 8, throughput: 1 } } }]);
});
