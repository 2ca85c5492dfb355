import { accept, estimatedRun, limitPerSecond, quietWorld, workers } from '../pipeline/quiet-world.ts';
import { type PipelineWorld, startMs } from '../pipeline/world.ts';
import { makeJobHead } from '../support/send-jobs.ts';
import { report } from './figure.ts';

const hourMs = 3_600_000;

/**
 * How messages leave a number of 80 a second, in virtual time on the real policies (D43 to D45): what is asked of the
 * platform, how much of the number is used, who gets how much of it, and how long a one-time code waits.
 */
export async function benchPace(): Promise<void> {
  for (const [count, size] of [
    [1, 10_000],
    [2, 5_000],
    [10, 1_000],
    [100, 100],
  ] as const) {
    await drained(count, size);
  }
  await shares(2, 3_000);
  await shares(100, 200);
  await waitOfCodes();
  await refusedAfterPause();
  await learnedLeads();
  await estimated();
  await fewWorkers();
}

/** Every job is there from the beginning, and drains. */
async function drained(count: number, size: number): Promise<void> {
  const world = quietWorld();
  for (let at = 0; at < count; at += 1) accept(world, size);
  await world.run(hourMs);
  const times = postTimes(world);
  const messages = count * size;
  if (times.length < messages) throw new Error(`only ${times.length} of ${messages} messages left`);
  const [firstMs = 0, lastMs = 0] = [times[0], times.at(-1)];
  const idealMs = (messages / limitPerSecond) * 1_000;
  const used = messages / ((lastMs - firstMs) / 1_000) / limitPerSecond;
  const of = (name: string) => `pace.${name}_of_${count}_jobs`;
  report({ figure: of('calls_per_message'), value: times.length / messages, limit: 1.02, unit: 'ratio' });
  report({ figure: of('unused_share'), value: 1 - used, limit: 0.13, unit: 'of the limit' });
  report({ figure: of('most_in_a_second'), value: mostInASecond(times), limit: limitPerSecond, unit: 'messages' });
  report({ figure: of('drain_to_ideal'), value: (lastMs - startMs) / idealMs, limit: 1.18, unit: 'ratio' });
}

/** The first client has two jobs and comes first: what each got while all of them wanted something. */
async function shares(clients: number, size: number): Promise<void> {
  const world = quietWorld();
  const clientOf = new Map<string, number>();
  for (let clientId = 1; clientId <= clients; clientId += 1) {
    clientOf.set(accept(world, clientId === 1 ? 2 * size : size, { clientId }), clientId);
    if (clientId === 1) clientOf.set(accept(world, size, { clientId }), clientId);
  }
  await world.run(hourMs);
  const byClient = Map.groupBy(world.platform.posts, ({ dispatchId }) => clientOf.get(jobOf(dispatchId)) ?? 0);
  const ends = [...byClient.values()].map((posts) => posts.at(-1)?.atMs ?? 0);
  const competingUntilMs = Math.min(...ends);
  const starts = [...byClient.values()].map((posts) => posts[0]?.atMs ?? 0);
  const competingFromMs = Math.max(...starts);
  const got = [...byClient.values()].map((posts) => {
    return posts.filter(({ atMs }) => atMs >= competingFromMs && atMs <= competingUntilMs).length;
  });
  const mean = got.reduce((sum, each) => sum + each, 0) / clients;
  const deviation = Math.max(...got.map((each) => Math.abs(each - mean) / mean));
  report({ figure: `pace.unequal_shares_of_${clients}_clients`, value: deviation, limit: 0.05, unit: 'of the mean' });
}

const codesEveryMs = 1_700;
const codes = 150;

/** One-time codes of a client that has 100,000 promotions waiting on the same number, and on an idle one. */
async function waitOfCodes(): Promise<void> {
  const idleMs = await slowestCode(0);
  const busyMs = await slowestCode(10);
  report({
    figure: 'pace.wait_of_codes_behind_100000',
    value: busyMs / idleMs,
    limit: 1.5,
    unit: 'to idle, 99th percentile',
  });
}

async function slowestCode(campaigns: number): Promise<number> {
  const world = quietWorld();
  for (let at = 0; at < campaigns; at += 1) accept(world, 10_000);
  const acceptedMs = new Map<string, number>();
  void (async () => {
    for (let at = 0; at < codes; at += 1) {
      await world.time.sleep(codesEveryMs);
      acceptedMs.set(accept(world, 1, { urgent: true }), world.time.nowMs);
    }
  })();
  await world.run((codes + 10) * codesEveryMs);
  const waits = world.platform.posts.flatMap(({ dispatchId, atMs }) => {
    const fromMs = acceptedMs.get(jobOf(dispatchId));
    return fromMs === undefined ? [] : [atMs - fromMs];
  });
  if (waits.length < codes) return Number.POSITIVE_INFINITY;
  return waits.toSorted((a, b) => a - b)[Math.ceil(codes * 0.99) - 1] ?? Number.POSITIVE_INFINITY;
}

/** The platform pauses the template in the middle of a job, for ten minutes (D46). */
async function refusedAfterPause(): Promise<void> {
  const pausedMs = startMs + 60_000;
  const resumedMs = pausedMs + 600_000;
  const messages = 10_000;
  const world: PipelineWorld = quietWorld({
    fateOf: () => (world.time.nowMs >= pausedMs && world.time.nowMs < resumedMs ? 'template_paused' : 'taken'),
  });
  const jobId = accept(world, messages);
  void world.jobStands(jobId, undefined, resumedMs - startMs);
  await world.run(hourMs);
  const refused = world.platform.posts.filter(({ taken }) => !taken).length;
  if (world.platform.posts.length - refused < messages) throw new Error('not every message left after the pause');
  report({ figure: 'pace.refused_calls_after_a_pause', value: refused, limit: workers * 10, unit: 'calls' });
}

/** What a number that has learned a lead loses by it: on a queue as late as any, and on one that is as punctual as it is. */
async function learnedLeads(): Promise<void> {
  for (const { name, delayJitterMs, leadMs, limit } of [
    { name: 'trusted_and_late', delayJitterMs: 1_000, leadMs: 350, limit: 0.17 },
    { name: 'settled_and_late', delayJitterMs: 1_000, leadMs: 1_000, limit: 0.13 },
    { name: 'punctual', delayJitterMs: 200, leadMs: 350, limit: 0.11 },
  ]) {
    const world = quietWorld({ delayJitterMs });
    const { phoneNumberId } = makeJobHead();
    world.numbers.learned(phoneNumberId, leadMs);
    const messages = 10_000;
    accept(world, messages);
    await world.run(hourMs);
    const times = postTimes(world);
    if (times.length < messages) throw new Error(`only ${times.length} of ${messages} messages left`);
    const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000;
    report({
      figure: `pace.unused_share_where_the_queue_is_${name}`,
      value: 1 - messages / seconds / limitPerSecond,
      limit,
      unit: 'of the limit',
    });
    report({
      figure: `pace.lead_where_the_queue_is_${name}`,
      value: world.numbers.leadMsOf(phoneNumberId),
      unit: 'ms',
    });
  }
}

/** A rehearsal beside the run that follows it, of 2,000 recipients on an idle number (D51). */
async function estimated(): Promise<void> {
  const { estimatedMs, ranMs } = await estimatedRun(2_000);
  report({
    figure: 'pace.estimate_of_2000_recipients',
    value: Math.abs(estimatedMs / ranMs - 1),
    limit: 0.1,
    unit: 'off the run',
  });
}

/** What the fan-out counts on: messages a second of one worker, which waits for their slots (lib/messages/deployed.ts). */
const perWorkerPerSecond = 6;

/** Fifty workers on a number of 1,000 a second: they are slower than it, and go on as fast as they can. */
async function fewWorkers(): Promise<void> {
  const world = quietWorld({ limitPerSecond: 1_000 });
  const messages = 40_000;
  accept(world, messages);
  await world.run(hourMs);
  const times = postTimes(world);
  if (times.length < messages) throw new Error(`only ${times.length} of ${messages} messages left`);
  const seconds = ((times.at(-1) ?? 0) - startMs) / 1_000;
  report({
    figure: 'pace.time_of_few_workers',
    value: (seconds * workers * perWorkerPerSecond) / messages,
    limit: 1,
    unit: 'of what they are counted on for',
  });
  report({
    figure: 'pace.reservations_of_few_workers',
    value: world.numbers.writes / messages,
    limit: 0.6,
    unit: 'writes a message',
  });
}

function postTimes(world: PipelineWorld): number[] {
  return world.platform.posts.map(({ atMs }) => atMs);
}

/** In any second, wherever it begins. */
function mostInASecond(times: readonly number[]): number {
  let most = 0;
  let from = 0;
  for (const [at, timeMs] of times.entries()) {
    while (timeMs - (times[from] ?? timeMs) >= 1_000) from += 1;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

function jobOf(dispatchId: string): string {
  return dispatchId.slice(0, dispatchId.lastIndexOf('-'));
}
