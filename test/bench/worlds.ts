import { accept, accept, quietWorld, quietWorld } from '../pipeline/quiet-world.ts';
import type { PipelineWorld } from '../pipeline/world.ts';
import { type PipelineWorld, startMs } from '../pipeline/world.ts';
import * as assumed from './cost/assumed.ts';
import { type Counts, lambdaTime, overlappingLambdaTime, times, together, totalDollars } from './cost/price.ts';
import { aMillion } from './cost/table.ts';
import { report } from './figure.ts';

/** So late may the delays of the queue end; of each figure the worst of the four counts. */
const latenessesMs = [0, 20, 200, 1_000] as const;

/** What a world sends: on each number, each client, so many jobs of so many recipients, all there at the beginning. */
interface Load {
  readonly name: string;
  readonly workers: number;
  readonly limitPerSecond: number;
  readonly numbers: number;
  readonly clients: number;
  readonly jobs: number;
  readonly size: number;
  /** The load never ends within this time, and only what is sent in it counts; undefined: until all has been sent. */
  readonly forMs?: number;
}

const one = { workers: 200, limitPerSecond: 80, numbers: 1, clients: 1 } as const;
const crowd = { limitPerSecond: 80, clients: 3, jobs: 1, size: 6_000, forMs: 60_000 } as const;
const loads: readonly Load[] = [
  { name: '1_job', ...one, jobs: 1, size: 3_000 },
  { name: '3_jobs', ...one, jobs: 3, size: 1_000 },
  { name: '10_jobs', ...one, jobs: 10, size: 300 },
  { name: '100_jobs', ...one, jobs: 100, size: 40 },
  { name: 'number_of_1000', ...one, limitPerSecond: 1_000, jobs: 1, size: 20_000 },
  { name: '1_number', ...crowd, numbers: 1, workers: 200 },
  { name: '4_numbers', ...crowd, numbers: 4, workers: 200 },
  { name: '16_numbers', ...crowd, numbers: 16, workers: 200 },
  { name: '16_numbers_60_workers', ...crowd, numbers: 16, workers: 60 },
  { name: '16_numbers_20_workers', ...crowd, numbers: 16, workers: 20 },
  { name: '10_workers_1_job', ...one, workers: 10, jobs: 1, size: 6_000, forMs: 60_000 },
  { name: '10_workers_30_jobs', ...one, workers: 10, jobs: 30, size: 400, forMs: 60_000 },
  { name: '24_numbers_100_workers', ...crowd, numbers: 24, workers: 100 },
  { name: '32_numbers_100_workers', ...crowd, numbers: 32, workers: 100 },
];

/** What a load took of a world, for each message that was sent. */
interface Taken {
  readonly calls: number;
  readonly writes: number;
  readonly reads: number;
  readonly queueRequests: number;
  readonly workerMs: number;
  readonly busyWorkers: number;
  /** Of what all numbers together may send. */
  readonly share: number;
  /** Of the whole account of AWS, in list prices, without logs: requests, runs, and what runs wait or compute. */
  readonly dollarsAMillion: number;
}

/**
 * The way of a message under load, in virtual time on the real policies: what it takes of the table, of the queue and of the
 * workers, and how much of the numbers is used, on queues that keep their delays more or less well.
 */
export async function benchWorlds(): Promise<void> {
  for (const load of loads) {
    await benchLoad(load, 'messages');
    await benchLoad(load, 'chunks');
  }
}

/** How messages go: each as a message of the queue by itself, as all do today; or by slices and chunks, beside it. */
type Way = 'messages' | 'chunks';

async function benchLoad(load: Load, way: Way): Promise<void> {
  const found: Taken[] = [];
  for (const latenessMs of latenessesMs) found.push(await takenBy(load, latenessMs, way));
  const tell = (name: string, unit: string, of: (taken: Taken) => number, worst: typeof Math.max = Math.max) => {
    for (const [at, taken] of found.entries()) {
      const figure = `worlds.${way}.${load.name}.${name}_at_${latenessesMs[at]}_ms`;
      report({ figure, value: of(taken), unit });
    }
    report({
      figure: `worlds.${way}.${load.name}.${name}`,
      value: worst(...found.map(of)),
      unit: `${unit}, worst of four`,
    });
  };
  tell('share', 'of the limit', ({ share }) => share, Math.min);
  tell('calls', 'a message', ({ calls }) => calls);
  tell('writes', 'a message', ({ writes }) => writes);
  tell('reads', 'a message', ({ reads }) => reads);
  tell('queue_requests', 'a message', ({ queueRequests }) => queueRequests);
  tell('worker_ms', 'a message', ({ workerMs }) => workerMs);
  tell('busy_workers', 'workers', ({ busyWorkers }) => busyWorkers);
  tell('cost', 'dollars a million', ({ dollarsAMillion }) => dollarsAMillion);
}

async function takenBy(load: Load, delayJitterMs: number, way: Way): Promise<Taken> {
  const { workers, limitPerSecond, numbers, clients, jobs, size, forMs = 3_600_000 } = load;
  const { world, acceptJob } = worldOf(way, { delayJitterMs, limitPerSecond, workers });
  for (let number = 0; number < numbers; number += 1) {
    for (let clientId = 1; clientId <= clients; clientId += 1) {
      const phoneNumberId = `3000000000000${String(number).padStart(2, '0')}`;
      for (let job = 0; job < jobs; job += 1) acceptJob(size, { clientId, phoneNumberId });
    }
  }
  await world.run(forMs);
  const messages = numbers * clients * jobs * size;
  const sent = world.platform.posts.filter(({ taken }) => taken).length;
  if (load.forMs === undefined && sent < messages) throw new Error(`only ${sent} of ${messages} messages left`);
  const lastMs = world.platform.posts.at(-1)?.atMs ?? startMs;
  const seconds = (load.forMs ?? lastMs - startMs) / 1_000;
  return {
    ...requestsOf(world, sent),
    busyWorkers: busyWorkers(world, seconds),
    share: sent / seconds / (limitPerSecond * numbers),
  };
}

function worldOf(way: Way, rules: Parameters<typeof quietWorld>[0]) {
  type Head = { clientId: number; phoneNumberId: string };
  if (way === 'messages') {
    const world = quietWorld(rules);
    return { world, acceptJob: (size: number, head: Head) => accept(world, size, head) };
  }
  const world = quietWorld(rules);
  return { world, acceptJob: (size: number, head: Head) => accept(world, size, head) };
}

function busyWorkers(world: PipelineWorld | PipelineWorld, seconds: number): number {
  return world.meter.timesOf('dispatch').ms / 1_000 / seconds;
}

function requestsOf(world: PipelineWorld | PipelineWorld, sent: number): Omit<Taken, 'busyWorkers' | 'share'> {
  const { write, read, queue } = world.meter.requests;
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
    queueRequests: queue,
  };
  const counts = together(requests, overlappingLambdaTime(worker), lambdaTime(fanOutTime));
  return {
    calls: world.platform.posts.length / sent,
    writes: write / sent,
    reads: read / sent,
    queueRequests: queue / sent,
    workerMs: dispatch.ms / sent,
    dollarsAMillion: totalDollars(times(counts, aMillion / sent)),
  };
}
