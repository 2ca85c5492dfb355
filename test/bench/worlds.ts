import { accept, quietWorld } from '../pipeline/quiet-world.ts';
import { type PipelineWorld, startMs } from '../pipeline/world.ts';
import * as assumed from './cost/assumed.ts';
import { type Counts, lambdaTime, overlappingLambdaTime, times, together, totalDollars } from './cost/price.ts';
import { aMillion } from './cost/table.ts';
import { report } from './figure.ts';

/** The delays of the queue end late by up to so much. The worst of the four counts. */
const latenessesMs = [0, 20, 200, 1_000] as const;

/** Each client has so many dispatches of so many recipients on each number, all there at the beginning. */
interface Load {
  readonly name: string;
  readonly workers: number;
  readonly limitPerSecond: number;
  readonly numbers: number;
  readonly clients: number;
  readonly dispatches: number;
  readonly size: number;
  /**
   * The load outlasts this time, and only messages sent in it count. Undefined: the world runs until all have been
   * sent.
   */
  readonly forMs?: number;
  readonly limits?: Partial<Taken>;
}

const one = { workers: 200, limitPerSecond: 80, numbers: 1, clients: 1 } as const;
const crowd = { limitPerSecond: 80, clients: 3, dispatches: 1, size: 6_000, forMs: 60_000 } as const;
const loads: readonly Load[] = [
  {
    ...{ name: '1_dispatch', ...one, dispatches: 1, size: 3_000 },
    limits: { unused: 0.12, calls: 1.02, writes: 0.23, queueRequests: 0.1, workerMs: 60, dollars: 0.6 },
  },
  { name: '3_dispatches', ...one, dispatches: 3, size: 1_000 },
  {
    ...{ name: '10_dispatches', ...one, dispatches: 10, size: 300 },
    limits: { unused: 0.12, calls: 1.02, writes: 0.28, queueRequests: 0.25, workerMs: 130, dollars: 0.85 },
  },
  {
    // Each dispatch is a chunk and a third, beside its fan-out.
    ...{ name: '100_dispatches', ...one, dispatches: 100, size: 40 },
    limits: { unused: 0.12, calls: 1.02, writes: 0.45, queueRequests: 0.53, workerMs: 160, dollars: 1.6 },
  },
  {
    ...{ name: '100_larger_dispatches', ...one, dispatches: 100, size: 100 },
    limits: { unused: 0.12, calls: 1.02, writes: 0.4, queueRequests: 0.4, workerMs: 160, dollars: 1.2 },
  },
  {
    ...{ name: 'number_of_1000', ...one, limitPerSecond: 1_000, dispatches: 1, size: 20_000 },
    limits: { unused: 0.12, calls: 1.02, busyWorkers: 50 },
  },
  { name: '1_number', ...crowd, numbers: 1, workers: 200 },
  { name: '4_numbers', ...crowd, numbers: 4, workers: 200 },
  { name: '16_numbers', ...crowd, numbers: 16, workers: 200, limits: { unused: 0.12, workerMs: 90 } },
  // The workers can send 880 of 1,280 messages a second.
  { name: '16_numbers_60_workers', ...crowd, numbers: 16, workers: 60, limits: { unused: 0.31 } },
  { name: '16_numbers_20_workers', ...crowd, numbers: 16, workers: 20 },
  {
    name: '10_workers_1_dispatch',
    ...one,
    workers: 10,
    dispatches: 1,
    size: 6_000,
    forMs: 60_000,
    limits: { unused: 0.15 },
  },
  {
    name: '10_workers_30_dispatches',
    ...one,
    workers: 10,
    dispatches: 30,
    size: 400,
    forMs: 60_000,
    limits: { unused: 0.15 },
  },
  { name: '24_numbers_100_workers', ...crowd, numbers: 24, workers: 100 },
  { name: '32_numbers_100_workers', ...crowd, numbers: 32, workers: 100 },
];

/** The costs count for each message sent. */
interface Taken {
  readonly calls: number;
  readonly writes: number;
  readonly reads: number;
  readonly queueRequests: number;
  readonly workerMs: number;
  readonly busyWorkers: number;
  /** The numbers together have used this share of what they may send. */
  readonly share: number;
  readonly unused: number;
  /** AWS bills this by list prices, without logs: requests, runs, and the time that runs wait or compute. */
  readonly dollars: number;
}

/**
 * Measures the way of a message under load, in virtual time on the real policies: requests to table and queue, time of
 * workers, and use of the numbers, at several queue delays.
 */
export async function benchWorlds(): Promise<void> {
  for (const load of loads) await benchLoad(load);
}

async function benchLoad(load: Load): Promise<void> {
  const found: Taken[] = [];
  for (const latenessMs of latenessesMs) found.push(await takenBy(load, latenessMs));
  const { limits = {} } = load;
  const tell = (name: keyof Taken, unit: string, worst: typeof Math.max = Math.max) => {
    for (const [at, taken] of found.entries()) {
      report({ figure: `worlds.${load.name}.${name}_at_${latenessesMs[at]}_ms`, value: taken[name], unit });
    }
    const { [name]: limit } = limits;
    const value = worst(...found.map((taken) => taken[name]));
    report({
      figure: `worlds.${load.name}.${name}`,
      value,
      unit: `${unit}, worst of four`,
      limit,
    });
  };
  tell('share', 'of the limit', Math.min);
  tell('unused', 'of the limit');
  tell('calls', 'a message');
  tell('writes', 'a message');
  tell('reads', 'a message');
  tell('queueRequests', 'a message');
  tell('workerMs', 'a message');
  tell('busyWorkers', 'workers');
  tell('dollars', 'a million messages');
}

async function takenBy(load: Load, delayJitterMs: number): Promise<Taken> {
  const { workers, limitPerSecond, numbers, clients, dispatches, size, forMs = 3_600_000 } = load;
  const world = quietWorld({ delayJitterMs, limitPerSecond, workers });
  for (let number = 0; number < numbers; number += 1) {
    for (let clientId = 1; clientId <= clients; clientId += 1) {
      const phoneNumberId = `3000000000000${String(number).padStart(2, '0')}`;
      for (let dispatch = 0; dispatch < dispatches; dispatch += 1) accept(world, size, { clientId, phoneNumberId });
    }
  }
  await world.run(forMs);
  const messages = numbers * clients * dispatches * size;
  const sent = world.platform.posts.filter(({ taken }) => taken).length;
  if (load.forMs === undefined && sent < messages) throw new Error(`only ${sent} of ${messages} messages left`);
  const lastMs = world.platform.posts.at(-1)?.atMs ?? startMs;
  const seconds = (load.forMs ?? lastMs - startMs) / 1_000;
  const share = sent / seconds / (limitPerSecond * numbers);
  return { ...requestsOf(world, sent), busyWorkers: busyWorkers(world, seconds), share, unused: 1 - share };
}

function busyWorkers(world: PipelineWorld, seconds: number): number {
  return world.meter.timesOf('dispatch').ms / 1_000 / seconds;
}

function requestsOf(world: PipelineWorld, sent: number): Omit<Taken, 'busyWorkers' | 'share' | 'unused'> {
  const { write, read, queue, grouped } = world.meter.requests;
  const [dispatch, fanOut] = [world.meter.timesOf('dispatch'), world.meter.timesOf('fan-out')];
  const { ofRun, ofMessage } = assumed.workerProcessorMs;
  const worker = {
    memoryMb: assumed.memoryOf('messages-dispatch'),
    waitedMs: dispatch.ms,
    processorMs: dispatch.runs * ofRun + world.platform.posts.length * ofMessage,
  };
  const fanOutTime = { memoryMb: assumed.memoryOf('messages-fan-out'), waitedMs: fanOut.ms, processorMs: 0 };
  const requests: Counts = {
    invocations: dispatch.runs + fanOut.runs,
    writeUnits: write,
    readUnits: read,
    queueRequests: queue + grouped,
    groupedRequests: grouped,
  };
  const counts = together(requests, overlappingLambdaTime(worker), lambdaTime(fanOutTime));
  return {
    calls: world.platform.posts.length / sent,
    writes: write / sent,
    reads: read / sent,
    queueRequests: (queue + grouped) / sent,
    workerMs: dispatch.ms / sent,
    dollars: totalDollars(times(counts, aMillion / sent)),
  };
}
