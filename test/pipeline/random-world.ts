import type { SendJob } from '../../lib/messages/accept/send-job.ts';
import { isAlone } from '../../lib/messages/composed-message.ts';
import { invocationOf } from '../../lib/messages/dispatch/claim.ts';
import { cancelled } from '../../lib/messages/job-state.ts';
import { outcomeOf } from '../../lib/messages/outcomes/outcome.ts';
import { fold } from '../../lib/messages/receipts/fold.ts';
import { reportedOutcome } from '../../lib/messages/receipts/reported-state.ts';
import { seededRandom } from '../support/faults.ts';
import { makeJob, makeRecipients } from '../support/send-jobs.ts';
import type { Fate } from './platform-model.ts';
import type { CallFault } from './runs.ts';
import { PipelineWorld } from './world.ts';

const callFaults: readonly CallFault[] = ['fails', 'reply_lost', 'lands_late', 'repeated'];
const fates: readonly Fate[] = ['taken_reply_lost', 'lost', 'refused', 'refused_for_now', 'no_connection'];

/** A world in which, for a seed, anything may go wrong at any moment; some worlds are worse than others. */
export function randomWorld(seed: number): PipelineWorld {
  const random = seededRandom(seed);
  const among = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const callFaultShare = among([0, 0.005, 0.03]);
  const fateShare = among([0, 0.05, 0.2]);
  const deathShare = among([0, 0.02, 0.15]);
  const skewMs = among([0, 100]);
  const world: PipelineWorld = new PipelineWorld({
    random,
    limitPerSecond: among([5, 20, 80]),
    answerMs: () => 20 + random() * 300,
    latencyMs: () => (random() < 0.02 ? random() * 3_000 : 1 + random() * 10),
    faultOf: (name) => {
      // Rare in every world: a request of one recipient that its acceptance cannot hand over.
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
    // The largest needs two rounds of its number when that is slow.
    const size = among([1, 1, 3, 3, 3, 3, 12, 12, 12, 12, 12, 40, 40, 40, 40, 260]);
    const clientId = among([1001, 1002]);
    const urgent = random() < 0.3 ? { urgent: true as const } : {};
    const head = { jobId, clientId, acceptedAtMs: world.time.nowMs, ...ttl, ...urgent };
    const job = makeJob(makeRecipients(size), head);
    world.accept({ ...job, firstIndex: 0 });
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
export function checkWorld(world: PipelineWorld): void {
  const broken = world.accepted.flatMap(({ dispatchId, job }) => brokenPromises(world, dispatchId, job));
  if (broken.length > 0) throw new Error(broken.slice(0, 5).join('\n'));
}

/** From the decision to send until the platform sees it, in a world with slow calls. */
const underWayMs = 5_000;
/** From the claim until then. */
const claimedMs = 20_000;

function brokenPromises(world: PipelineWorld, dispatchId: string, job: SendJob): string[] {
  const broken: string[] = [];
  if (world.jobs.withdrawn.has(job.head.jobId)) return refusedAndSent(world, dispatchId);
  const isQueued = !isAlone(job) || world.jobs.states.get(job.head.jobId)?.begun;
  const { stop } = world.jobs.states.get(job.head.jobId) ?? {};
  const { expiresAtMs } = job.head;
  const posts = world.platform.posts.filter((post) => post.dispatchId === dispatchId);
  const taken = posts.filter((post) => post.taken);
  if (taken.length > 1) broken.push(`R13: ${dispatchId} was taken ${taken.length} times`);
  if (expiresAtMs !== undefined && posts.some(({ atMs }) => atMs > expiresAtMs + underWayMs)) {
    broken.push(`D27: ${dispatchId} was sent after its time`);
  }
  if (stop !== undefined && posts.some(({ atMs }) => atMs > stop.atMs + claimedMs)) {
    broken.push(`D53: ${dispatchId} was sent after its job was cancelled`);
  }
  const claim = world.claims.claims.get(dispatchId);
  const at = dispatchId.lastIndexOf('-');
  const key = { jobId: dispatchId.slice(0, at), index: Number(dispatchId.slice(at + 1)) };
  const batch = claim === undefined ? undefined : world.claims.batchOf(invocationOf(claim.at));
  const own = outcomeOf(key, { claim, batch }, world.time.nowMs + 600_000);
  const receiptsHere = world.claims.receiptsOf(dispatchId);
  const { state } = reportedOutcome(own, fold(receiptsHere));
  if (own.state === 'pending' && world.deadLetters === 0 && isQueued) broken.push(`R14: ${dispatchId} has vanished`);
  if (['sent', 'held', 'delivered', 'read'].includes(state) && taken.length === 0) {
    broken.push(`R14: ${dispatchId} counts as ${state} and was never taken`);
  }
  if (['failed', 'expired'].includes(state) && taken.length > 0) {
    broken.push(`R14: ${dispatchId} counts as ${state} and was taken`);
  }
  if (
    claim?.state === 'unknown' &&
    receiptsHere.length > 0 &&
    batch?.[dispatchId] === undefined &&
    world.deadLetters === 0
  ) {
    broken.push(`D39: ${dispatchId} has a receipt and stays unknown`);
  }
  return broken;
}

/** Its client was told 502: that nothing of it is sent, or that nobody knows. */
function refusedAndSent(world: PipelineWorld, dispatchId: string): string[] {
  const isPosted = world.platform.posts.some((post) => post.dispatchId === dispatchId);
  const isTold = [...world.told.values()].some(({ data }) => JSON.stringify(data).includes(dispatchId));
  return [
    ...(isPosted ? [`D25: ${dispatchId} was refused and sent`] : []),
    ...(isTold ? [`D25: ${dispatchId} was refused and is told of`] : []),
  ];
}
