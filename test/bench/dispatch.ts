import { setTimeout as pause } from 'node:timers/promises';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import { dispatchMessage } from '../faults/scenario-job.ts';
import { DispatchWorld, deliveryOf } from '../support/dispatch-ports.ts';
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
  const messages = 1_000;
  for (let first = 0; first < messages; first += 10) {
    await dispatchBatch(batchOf(10, first), world.ports());
  }
  const claims = world.storeCalls.filter((name) => name === 'take').length;
  const others = world.storeCalls.length - claims;
  report({ figure: 'dispatch.claim_writes_per_message', value: claims / messages, limit: 1, unit: 'requests' });
  report({ figure: 'dispatch.other_requests_per_message', value: others / messages, limit: 0.1, unit: 'requests' });
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
  const slowly =
    <Args extends unknown[], Result>(ms: number, call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await pause(ms);
      return await call(...args);
    };
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

function batchOf(size: number, first: number) {
  return Array.from({ length: size }, (_, offset) => deliveryOf(dispatchMessage(first + offset), `message-${offset}`));
}
