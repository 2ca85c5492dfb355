import type { AcceptedSend } from '../../lib/messages/accept/send-job.ts';
import { cancelled } from '../../lib/messages/job-state.ts';
import { placeInSlice, type Recorded, sliceOf } from '../../lib/messages/slices/slice.ts';
import { seededRandom } from '../support/faults.ts';
import { makeJob, makeRecipients } from '../support/send-jobs.ts';
import type { Fate } from './platform-model.ts';
import type { CallFault } from './runs.ts';
import { PipelineWorld } from './world.ts';

const callFaults: readonly CallFault[] = ['fails', 'reply_lost', 'lands_late', 'repeated'];
const fates: readonly Fate[] = ['taken_reply_lost', 'lost', 'refused', 'refused_for_now', 'no_connection'];

/** A world in which, for a seed, anything may go wrong at any moment; some worlds are worse than others. */
export function randomChunks(seed: number): PipelineWorld {
  const random = seededRandom(seed);
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const callFaultShare = among([0, 0.005, 0.03]);
  const fateShare = among([0, 0.05, 0.2]);
  const deathShare = among([0, 0.02, 0.15]);
  const skewMs = among([0, 100]);
  const world: PipelineWorld = new PipelineWorld({
    random,
    limitPerSecond: among([5, 20, 80, 1_000]),
    answerMs: () => 20 + random() * 300,
    latencyMs: () => (random() < 0.02 ? random() * 3_000 : 1 + random() * 10),
    faultOf: (name) => {
      // Rare in every world: a small request that its acceptance cannot hand over.
      const share = name === 'enqueueStraight' ? 0.3 : callFaultShare;
      return name !== 'send' && random() < share ? among(callFaults) : undefined;
    },
    fateOf: () => (random() < fateShare ? among(fates) : 'taken'),
    lifeMs: () => (random() < deathShare ? random() * 8_000 : undefined),
    receiptsOf: () => receipts(random),
    delayJitterMs: among([0, 1_000]),
    repeatShare: among([0, 0.05]),
    clockSkewMs: () => (random() - 0.5) * skewMs,
    workers: among([2, 20]),
  });
  const jobs = 1 + Math.floor(random() * 4);
  for (let at = 0; at < jobs; at += 1) {
    const jobId = `01JD${String(at).padStart(22, '0')}`;
    const ttl = random() < 0.2 ? { expiresAtMs: world.time.nowMs + 1_000 + random() * 120_000 } : {};
    // The largest needs several rounds of its number when that is slow.
    const size = among([1, 1, 3, 3, 3, 10, 12, 12, 12, 40, 40, 40, 75, 75, 260, 600]);
    const clientId = among([1001, 1002]);
    const urgent = random() < 0.3 ? { urgent: true as const } : {};
    world.accept(makeJob(makeRecipients(size), { jobId, clientId, acceptedAtMs: world.time.nowMs, ...ttl, ...urgent }));
    holdBack(world, jobId, random);
  }
  return world;
}

/** Some jobs are cancelled, others wait for their template for a while. */
function holdBack(world: PipelineWorld, jobId: string, random: () => number): void {
  const share = random();
  const afterMs = random() * 20_000;
  const atMs = world.time.nowMs + afterMs;
  if (share < 0.15) void world.jobStands(jobId, { stop: cancelled(atMs) }, afterMs);
  if (share < 0.85) return;
  void world.jobStands(jobId, { parked: { code: 'template_paused', sinceMs: atMs } }, afterMs);
  void world.jobStands(jobId, undefined, afterMs + random() * 600_000);
}

/** What the platform tells of a message, if it does: in any order, twice, or late. */
function receipts(random: () => number): { status: string; afterMs: number }[] {
  if (random() < 0.3) return [];
  const told = ['sent', 'delivered', 'read'].slice(0, 1 + Math.floor(random() * 3));
  const again = random() < 0.2 ? told : [];
  return [...told, ...again].map((status) => ({
    status,
    afterMs: random() < 0.1 ? random() * 600_000 : random() * 5_000,
  }));
}

/** What must hold once nothing is under way any more; throws with all that does not. */
export function checkChunks(world: PipelineWorld): void {
  const broken = world.accepted.flatMap(({ dispatchId, job }) => brokenPromises(world, dispatchId, job));
  if (broken.length > 0) throw new Error(broken.slice(0, 5).join('\n'));
}

/** From the decision to send until the platform sees it, in a world with slow calls. */
const underWayMs = 5_000;
/** From the claim until then, on a slow number. */
const claimedMs = 20_000;

function brokenPromises(world: PipelineWorld, dispatchId: string, job: AcceptedSend): string[] {
  const broken: string[] = [];
  const { jobId, expiresAtMs } = job.head;
  if (world.jobs.withdrawn.has(jobId)) return refusedAndSent(world, dispatchId);
  const { stop } = world.jobs.states.get(jobId) ?? {};
  const posts = world.platform.posts.filter((post) => post.dispatchId === dispatchId);
  const taken = posts.filter((post) => post.taken);
  if (taken.length > 1) broken.push(`R13: ${dispatchId} was taken ${taken.length} times`);
  if (expiresAtMs !== undefined && posts.some(({ atMs }) => atMs > expiresAtMs + underWayMs)) {
    broken.push(`D27: ${dispatchId} was sent after its time`);
  }
  if (stop !== undefined && posts.some(({ atMs }) => atMs > stop.atMs + claimedMs)) {
    broken.push(`D53: ${dispatchId} was sent after its job was cancelled`);
  }
  const index = Number(dispatchId.slice(dispatchId.lastIndexOf('-') + 1));
  const outcome = world.slices.find(sliceOf({ jobId, index }))?.outcomes[placeInSlice(index)];
  const hasReceipt = world.doubts.receipts.get(jobId)?.has(index) ?? false;
  const isQueued = job.recipients.length > 10 || world.jobs.states.get(jobId)?.begun;
  if (world.deadLetters === 0 && isQueued) broken.push(...brokenEnd(dispatchId, outcome, hasReceipt));
  if (outcome?.state === 'sent' && taken.length === 0) broken.push(`R14: ${dispatchId} counts as sent and never was`);
  if ((outcome?.state === 'failed' || outcome?.state === 'expired') && taken.length > 0 && !hasReceipt) {
    broken.push(`R14: ${dispatchId} counts as ${outcome.state} and was taken`);
  }
  return [...broken, ...untold(world, dispatchId, outcome)];
}

function brokenEnd(dispatchId: string, outcome: Recorded | undefined, hasReceipt: boolean): string[] {
  if (outcome === undefined || outcome.state === 'again') {
    return [`R14: ${dispatchId} has vanished (${outcome?.state ?? 'no outcome'})`];
  }
  if (outcome.state === 'unknown' && hasReceipt) return [`D39: ${dispatchId} has a receipt and stays unknown`];
  return [];
}

/** Each ending that is no success is told, under one id (D34). */
function untold(world: PipelineWorld, dispatchId: string, outcome: Recorded | undefined): string[] {
  const state = outcome?.state;
  if (state !== 'failed' && state !== 'expired' && state !== 'unknown') return [];
  if (world.deadLetters > 0) return [];
  const type = `message.${state}`;
  const isTold = [...world.told.values()].some(
    (event) => event.type === type && JSON.stringify(event.data).includes(`"${dispatchId}"`),
  );
  return isTold ? [] : [`D34: ${dispatchId} ended ${state} and is not told of`];
}

/** Its client was told 502: that nothing of it is sent, or that it is not known. */
function refusedAndSent(world: PipelineWorld, dispatchId: string): string[] {
  const isPosted = world.platform.posts.some((post) => post.dispatchId === dispatchId);
  const isTold = [...world.told.values()].some(({ data }) => JSON.stringify(data).includes(`"${dispatchId}"`));
  return [
    ...(isPosted ? [`D25: ${dispatchId} was refused and sent`] : []),
    ...(isTold ? [`D25: ${dispatchId} was refused and is told of`] : []),
  ];
}
