import { setTimeout as pause } from 'node:timers/promises';
import { unknownBreaker } from '../../lib/messages/dispatch/breaker.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import type { DispatchMessage } from '../../lib/messages/job.ts';
import { reserve } from '../../lib/messages/pace/reserve.ts';
import { dispatchMessage, startMs } from '../support/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../support/dispatch-ports.ts';
import { memoryPaces } from '../support/memory-paces.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { median, report } from './figure.ts';

const writeMs = 5;
const platformMs = 150;

/** Writes per message, and how much longer ten messages take than one. */
export async function benchDispatch(): Promise<void> {
  await benchWrites();
  await benchBatchOfTen();
}

async function benchWrites(): Promise<void> {
  const world = new DispatchWorld();
  const clock = new VirtualClock(startMs);
  const counted = memoryPaces();
  const messages = 1_000;
  const lane = { clientId: 1001, lane: 'J' };
  const number = { phoneNumberId: dispatchMessage(0).phoneNumberId, limitPerSecond: 80 };
  const { firstPosition } = await reserve(counted, { ...number, ...lane, count: messages }, clock.nowMs());
  let reads = 0;
  let reservations = 0;
  const ports = () => ({
    ...world.ports(),
    nowMs: clock.nowMs,
    pause: clock.pause,
    claims: { ...world.claims, take: afterPause(() => clock.pause(writeMs), world.claims.take) },
    paces: {
      find: async (phoneNumberId: string) => {
        reads += 1;
        return await counted.find(phoneNumberId);
      },
      change: async (...args: Parameters<typeof counted.change>) => {
        reservations += 1;
        return (await counted.change(...args)) as never;
      },
    },
    breakers: {
      ...world.ports().breakers,
      find: async () => {
        reads += 1;
        return unknownBreaker;
      },
    },
    jobStates: {
      of: async () => {
        reads += 1;
        return new Map();
      },
    },
  });
  // As SQS delivers them to a number that has not learned its lead: a second before their slots.
  for (let first = 0; first < messages; first += 10) {
    const deliveries = batchOf(10, first, (index) => ({ turn: { ...lane, position: firstPosition + index } }));
    const earlyMs = startMs + (first * 1_000) / 72 - 1_100 - clock.nowMs();
    if (earlyMs > 0) await clock.run(clock.pause(earlyMs));
    await clock.run(dispatchBatch(deliveries, ports()));
  }
  const claims = world.storeCalls.filter((name) => name === 'take').length;
  const others = world.storeCalls.length - claims + reservations;
  report({ figure: 'dispatch.claim_writes_per_message', value: claims / messages, limit: 1, unit: 'requests' });
  report({ figure: 'dispatch.other_writes_per_message', value: others / messages, limit: 0.1, unit: 'requests' });
  report({ figure: 'dispatch.reads_per_message', value: reads / messages, limit: 0.3, unit: 'requests' });
}

/** Median times of a batch of ten and of one, taken in turns within one run. */
async function benchBatchOfTen(): Promise<void> {
  const tens: number[] = [];
  const ones: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    ones.push(await timed(1));
    tens.push(await timed(10));
  }
  report({ figure: 'dispatch.batch_of_10_to_1', value: median(tens) / median(ones), limit: 1.3, unit: 'ratio' });
}

async function timed(size: number): Promise<number> {
  const world = new DispatchWorld();
  const slowly = <Args extends unknown[], Result>(ms: number, call: (...args: Args) => Promise<Result>) =>
    afterPause(() => pause(ms), call);
  const ports = world.ports();
  const { claims } = world;
  const slow = {
    ...ports,
    claims: { ...claims, take: slowly(writeMs, claims.take), recordBatch: slowly(writeMs, claims.recordBatch) },
    send: slowly(platformMs, ports.send),
  };
  const startedMs = performance.now();
  await dispatchBatch(batchOf(size, 0), slow);
  return performance.now() - startedMs;
}

function afterPause<Args extends unknown[], Result>(
  wait: () => Promise<unknown>,
  call: (...args: Args) => Promise<Result>,
) {
  return async (...args: Args): Promise<Result> => {
    await wait();
    return await call(...args);
  };
}

function batchOf(size: number, first: number, changes: (index: number) => Partial<DispatchMessage> = () => ({})) {
  return Array.from({ length: size }, (_, offset) => {
    const index = first + offset;
    return deliveryOf(dispatchMessage(index, changes(index)), `message-${offset}`);
  });
}
