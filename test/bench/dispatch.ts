import { setTimeout as pause } from 'node:timers/promises';
import { dispatchBatch } from '../../lib/messages/dispatch.ts';
import { dispatchMessage } from '../faults/scenarios.ts';
import { DispatchWorld, deliveryOf } from '../support/dispatch-ports.ts';

const writeMs = 5;
const platformMs = 150;

interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly limit: number;
  readonly ok: boolean;
}

/** Prints the dispatch figures, one JSON line each, and returns whether all of them are within their limits. */
export async function benchDispatch(print: (line: string) => void): Promise<boolean> {
  const figures = [...(await writesPerMessage()), await batchOfTenRatio()];
  for (const figure of figures) print(JSON.stringify(figure));
  return figures.every(({ ok }) => ok);
}

async function writesPerMessage(): Promise<Figure[]> {
  const world = new DispatchWorld();
  const messages = 1_000;
  for (let first = 0; first < messages; first += 10) {
    await dispatchBatch(batchOf(10, first), world.ports());
  }
  const claims = world.storeCalls.filter((name) => name === 'take').length;
  const others = world.storeCalls.length - claims;
  return [
    figure('dispatch: claim writes per message', claims / messages, 1),
    figure('dispatch: other DynamoDB requests per message', others / messages, 0.1),
  ];
}

/** Median times of a batch of ten and of one, taken in turns within one run. */
async function batchOfTenRatio(): Promise<Figure> {
  const tens: number[] = [];
  const ones: number[] = [];
  for (let round = 0; round < 7; round += 1) {
    ones.push(await timed(1));
    tens.push(await timed(10));
  }
  return figure('dispatch: time of a batch of 10 to a batch of 1', median(tens) / median(ones), 1.3);
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

function figure(name: string, value: number, limit: number): Figure {
  return { figure: name, value: Math.round(value * 1_000) / 1_000, limit, ok: value <= limit };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
