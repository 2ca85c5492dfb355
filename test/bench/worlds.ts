import { accept, quietRules } from '../pipeline/quiet-world.ts';
import { PipelineWorld, startMs, type WorldRules } from '../pipeline/world.ts';
import * as assumed from './cost/assumed.ts';
import { type Counts, overlappingLambdaTime, times, together, totalDollars } from './cost/price.ts';
import { aMillion } from './cost/table.ts';
import { report } from './figure.ts';

/** The delays of the queue end late by up to so much, and calls take so long. The worst of all of them counts. */
const latenessesMs = [0, 20, 200, 1_000] as const;
const callsMs = [90, 300, 800] as const;

type Conditions = Partial<WorldRules>;

const conditions: readonly Conditions[] = latenessesMs.flatMap((delayJitterMs) =>
  callsMs.map((ms) => ({ delayJitterMs, answerMs: () => ms, workers: 200 })),
);

/** Each client has so many dispatches of so many recipients on each number, all there at the beginning. */
interface Load {
  readonly name: string;
  readonly rules?: Conditions;
  readonly numbers?: number;
  readonly clients?: number;
  readonly dispatches: number;
  readonly size: number;
  /** The load outlasts this time, and only messages sent in it count. */
  readonly forMs?: number;
  readonly limits: Partial<Taken>;
}

/**
 * A limit is the aim where that is reached. A tenth above what was found have: slow numbers (aims $2 and $9), and unequal
 * shares of ten clients (0.02) and a hundred (0.05).
 */

/** A sender begins within a second, which counts here. */
const crowd = { numbers: 16, clients: 3, dispatches: 1, size: 2_000, forMs: 20_000 } as const;
const loads: readonly Load[] = [
  {
    ...{ name: '1_dispatch', dispatches: 1, size: 4_000 },
    limits: { unused: 0.11, calls: 1.02, writes: 0.25, queueRequests: 0.03, workerMs: 20, dollars: 0.3 },
  },
  {
    ...{ name: '10_dispatches', dispatches: 10, size: 400 },
    limits: { unused: 0.11, calls: 1.02, writes: 0.25, queueRequests: 0.03, workerMs: 20, dollars: 0.3 },
  },
  {
    ...{ name: '100_dispatches', dispatches: 100, size: 40 },
    // Acceptance wakes the number for each dispatch.
    limits: { unused: 0.13, calls: 1.02, writes: 0.35, queueRequests: 0.14, workerMs: 25, dollars: 0.5 },
  },
  {
    ...{ name: 'number_of_1000', rules: { limitPerSecond: 1_000 }, dispatches: 1, size: 20_000 },
    limits: { unused: 0.13, dollars: 0.25 },
  },
  {
    ...{ name: '100_dispatches_of_1000', rules: { limitPerSecond: 1_000 }, dispatches: 100, size: 40 },
    // This takes five seconds: a slow first call counts, and parts have from 48 to 52 slices.
    limits: { unused: 0.23 },
  },
  { name: '16_numbers_60_workers', ...crowd, rules: { workers: 60 }, limits: { unused: 0.13 } },
  { name: '16_numbers_20_workers', ...crowd, rules: { workers: 20 }, limits: { unused: 0.13 } },
  { name: '5_a_second', rules: { limitPerSecond: 5 }, dispatches: 1, size: 400, limits: { dollars: 2.2 } },
  { name: '1_a_second', rules: { limitPerSecond: 1 }, dispatches: 1, size: 100, limits: { dollars: 10.6 } },
];

/** The costs count for each message sent. */
interface Taken {
  readonly calls: number;
  readonly writes: number;
  readonly reads: number;
  readonly queueRequests: number;
  readonly workerMs: number;
  /** Of what the numbers together may send, this share was not used. */
  readonly unused: number;
  /** AWS bills this by list prices, without acceptance and logs: requests, runs, and the time of senders. */
  readonly dollars: number;
}

const units: Readonly<Record<keyof Taken, string>> = {
  ...{ unused: 'of the limit', calls: 'a message', writes: 'a message', reads: 'a message' },
  ...{ queueRequests: 'a message', workerMs: 'a message', dollars: 'a million messages' },
};

/**
 * Measures the senders of numbers under load, in virtual time on the real policies: what they use of their numbers, of
 * table, queue and workers, and how long newcomers, one-time codes and the others of a killed run wait.
 */
export async function benchWorlds(): Promise<void> {
  for (const load of loads) await benchLoad(load);
  for (const perSecond of [5, 20, 80]) {
    const value = await worst((rules) => newcomerMs(perSecond, rules));
    report({ figure: `worlds.newcomer_at_${perSecond}`, value, limit: 2_000, unit: 'ms to its first message' });
  }
  for (const [perSecond, limit] of tenCodes) {
    const value = await worst((rules) => longestOfTenCodesMs(perSecond, rules));
    report({ figure: `worlds.ten_codes_at_${perSecond}`, value, limit, unit: 'ms to the last of them' });
  }
  for (const { clients, size, limit } of shares) {
    const value = await worst((rules) => unequalShares(clients, size, rules), conditions.slice(0, 3));
    report({ figure: `worlds.unequal_shares_of_${clients}`, value, limit, unit: 'of the mean, most to least' });
  }
  for (const [ms, limit] of unknownByCall) {
    const ends = await Promise.all(latenessesMs.map((delayJitterMs) => oneKill({ delayJitterMs, answerMs: () => ms })));
    const most = (of: 'unknown' | 'silenceMs') => Math.max(...ends.map((end) => end[of]));
    report({ figure: `worlds.unknown_by_one_kill_at_${ms}_ms`, value: most('unknown'), limit, unit: 'recipients' });
    report({
      figure: `worlds.silence_after_one_kill_at_${ms}_ms`,
      value: most('silenceMs'),
      limit: 40_000,
      unit: 'ms',
    });
  }
}

const tenCodes = [
  [5, 5_000],
  [20, 2_000],
  [80, 1_500],
] as const;

const shares = [
  { clients: 2, size: 4_000, limit: 0.005 },
  { clients: 10, size: 1_000, limit: 0.036 },
  { clients: 100, size: 400, limit: 0.06 },
] as const;

const unknownByCall = [
  [90, 40],
  [300, 60],
  [800, 100],
] as const;

async function worst(
  measure: (rules: Conditions) => Promise<number>,
  among: readonly Conditions[] = conditions,
): Promise<number> {
  let value = 0;
  for (const rules of among) value = Math.max(value, await measure(rules));
  return value;
}

async function benchLoad(load: Load): Promise<void> {
  const found: Taken[] = [];
  for (const rules of conditions) found.push(await takenBy(load, rules));
  // Runs are counted at their ends, which most of a load that outlasts its time do not reach.
  const names = load.forMs === undefined ? (Object.keys(units) as (keyof Taken)[]) : (['unused'] as const);
  for (const name of names) {
    const value = Math.max(...found.map((taken) => taken[name]));
    const unit = `${units[name]}, worst of ${conditions.length}`;
    report({ figure: `worlds.${load.name}.${name}`, value, unit, limit: load.limits[name] });
  }
}

async function takenBy(
  { rules: own, numbers = 1, clients = 1, dispatches, size, forMs }: Load,
  rules: Conditions,
): Promise<Taken> {
  const all = quietRules({ ...rules, ...own });
  const world = new PipelineWorld(all);
  for (let number = 0; number < numbers; number += 1) {
    for (let clientId = 1; clientId <= clients; clientId += 1) {
      const phoneNumberId = `3000000000000${String(number).padStart(2, '0')}`;
      for (let dispatch = 0; dispatch < dispatches; dispatch += 1) accept(world, size, { clientId, phoneNumberId });
    }
  }
  await world.run(forMs ?? 4 * 3_600_000);
  const messages = numbers * clients * dispatches * size;
  const sent = world.platform.posts.filter(({ taken }) => taken).length;
  if (forMs === undefined && sent < messages) throw new Error(`only ${sent} of ${messages} messages left`);
  const lastMs = Math.max(...world.platform.posts.map(({ atMs }) => atMs));
  const seconds = (forMs ?? lastMs - startMs) / 1_000;
  return { ...requestsOf(world, sent), unused: 1 - sent / seconds / (all.limitPerSecond * numbers) };
}

function requestsOf(world: PipelineWorld, sent: number): Omit<Taken, 'unused'> {
  const { write, read, queue, grouped } = world.meter.requests;
  const { ms, runs } = world.meter.timesOf('dispatch');
  const { ofRun, ofMessage } = assumed.senderProcessorMs;
  const posts = world.platform.posts.length;
  const sender = {
    memoryMb: assumed.memoryOf('messages-dispatch'),
    waitedMs: ms,
    processorMs: runs * ofRun + posts * ofMessage,
  };
  const requests: Counts = {
    invocations: runs,
    writeUnits: write,
    readUnits: read,
    queueRequests: queue + grouped,
    groupedRequests: grouped,
  };
  const counts = together(requests, overlappingLambdaTime(sender));
  return {
    calls: posts / sent,
    writes: write / sent,
    reads: read / sent,
    queueRequests: (queue + grouped) / sent,
    workerMs: ms / sent,
    dollars: totalDollars(times(counts, aMillion / sent)),
  };
}

/** Another client comes to two dispatches that fill the number. */
async function newcomerMs(limitPerSecond: number, rules: Conditions): Promise<number> {
  const world = new PipelineWorld(quietRules({ ...rules, limitPerSecond }));
  for (const clientId of [1, 2]) accept(world, 100 * limitPerSecond, { clientId });
  let dispatchId = '';
  void world.time.sleep(20_000).then(() => {
    dispatchId = accept(world, 40, { clientId: 3 });
  });
  await world.run(35_000);
  return firstPostMs(world, dispatchId) - callMs(rules) / 2 - startMs - 20_000;
}

/** Ten codes of another client come at once, beside two dispatches that fill the number. */
async function longestOfTenCodesMs(limitPerSecond: number, rules: Conditions): Promise<number> {
  const world = new PipelineWorld(quietRules({ ...rules, limitPerSecond }));
  for (const clientId of [1, 2]) accept(world, 100 * limitPerSecond, { clientId });
  const codes: string[] = [];
  void world.time.sleep(20_300).then(() => {
    for (let at = 0; at < 10; at += 1) codes.push(accept(world, 1, { clientId: 900, urgent: true }));
  });
  await world.run(40_000);
  const waits = codes.map((dispatchId) => firstPostMs(world, dispatchId) - callMs(rules) / 2 - startMs - 20_300);
  return Math.max(...waits);
}

/** The platform counts a call after half of its answer's time. */
const callMs = ({ answerMs }: Conditions) => answerMs?.() ?? 0;

/** Stops before any client's messages are all sent. The first client has a second dispatch. */
async function unequalShares(clients: number, size: number, rules: Conditions): Promise<number> {
  const world = new PipelineWorld(quietRules(rules));
  const dispatchIds = Array.from({ length: clients }, (_, at) => [accept(world, size, { clientId: at + 1 })]);
  dispatchIds[0]?.push(accept(world, size, { clientId: 1 }));
  await world.run((0.9 * clients * size * 1_000) / 72);
  const counts = dispatchIds.map((own) => own.reduce((sum, id) => sum + postsOf(world, id).length, 0));
  const mean = counts.reduce((sum, count) => sum + count, 0) / clients;
  return (Math.max(...counts) - Math.min(...counts)) / mean;
}

/** The process of the number's first sender is killed while it sends. */
async function oneKill(rules: Conditions): Promise<{ readonly unknown: number; readonly silenceMs: number }> {
  let isKilled = false;
  const lifeMs: WorldRules['lifeMs'] = (name) => {
    if (name !== 'dispatch' || isKilled) return undefined;
    isKilled = true;
    return 15_000;
  };
  const world = new PipelineWorld(quietRules({ ...rules, lifeMs, workers: 200 }));
  accept(world, 4_000);
  await world.run(3_600_000);
  const times = world.platform.posts.map(({ atMs }) => atMs);
  const silences = times.slice(1).map((atMs, at) => atMs - (times[at] ?? atMs));
  const unknown = [...world.told.values()].filter(({ type }) => type === 'message.unknown').length;
  return { unknown, silenceMs: Math.max(...silences) };
}

function postsOf(world: PipelineWorld, dispatchId: string) {
  return world.platform.posts.filter(({ messageId }) => messageId.startsWith(`${dispatchId}-`));
}

function firstPostMs(world: PipelineWorld, dispatchId: string): number {
  return postsOf(world, dispatchId)[0]?.atMs ?? Number.POSITIVE_INFINITY;
}
