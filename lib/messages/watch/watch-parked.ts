import type { DelayedQueue } from '../../aws/sqs-batch.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { NotifiedJob } from '../dispatch/completed-event.ts';
import { claimLifeMs } from '../dispatch/deadlines.ts';
import { endedByReading, type HeldBy, holdsOn, isProbeOverdue } from '../holds/hold.ts';
import type { HoldsOfWabas } from '../holds/hold-store.ts';
import { parkScopeOf } from '../holds/scope.ts';
import { aboutJob, type JobHead } from '../job.ts';
import {
  type Ending,
  type JobState,
  type JobStates,
  type JobStop,
  parkDelaySeconds,
  parkEndMs,
  pauseFromMs,
  type Waiting,
} from '../job-state.ts';
import { afterOpenTimeMs, type Lot, openingsOfAll } from '../lots.ts';
import { notApproved } from '../request/parameter-contract.ts';
import { parkedEvent, resumedEvent } from './parked-event.ts';
import { type ReadinessPorts, templateReadiness } from './template-readiness.ts';
import { closedSeconds, type ParkedWatch } from './watch-message.ts';

export interface ParkedPorts extends ReadinessPorts {
  readonly queue: DelayedQueue<ParkedWatch>;
  readonly states: Pick<JobStates, 'of' | 'stop' | 'resume' | 'endPause'>;
  readonly holds: Pick<HoldsOfWabas, 'find' | 'change'>;
  readonly isDown: () => Promise<boolean>;
  /** Returns undefined for a withdrawn or forgotten job. */
  readonly jobOf: (jobId: string) => Promise<WatchedJob | undefined>;
}

export interface WatchedJob {
  readonly head: JobHead;
  readonly lots?: readonly Lot[];
}

interface Ports extends ParkedPorts {
  readonly events: EventSink;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

interface ParkedJob extends NotifiedJob, WatchedJob {}

/** The platform is asked at least this often: ten jobs of one template ask ten times. */
const longestQuietMs = 600_000;

/** A resumed job without a sent or refused message counts as going on after this much open time (D56). */
const longestUnprovenMs = 600_000;

/**
 * Looks once at a parked job (D46). The first look notifies the client; later ones resume the job without a hold, stop
 * it when its time is over, or queue another look.
 */
export async function lookAtParked(message: ParkedWatch, ports: Ports): Promise<void> {
  const { jobId, clientId, acceptedAtMs, sinceMs } = message;
  const watched = await ports.jobOf(jobId);
  if (watched === undefined) {
    ports.log('job.watch_ended', { jobId, clientId });
    return;
  }
  const job = { jobId, clientId, acceptedAtMs, about: aboutJob(watched.head), ...watched };
  const state = (await ports.states.of([jobId])).get(jobId) ?? {};
  if (state.stop !== undefined) return;
  const { parked } = state;
  if (parked?.sinceMs !== sinceMs) return await lookAtNoLonger(message, { job, state }, ports);
  const waiting = { ...state, parked };
  const fromMs = pauseFromMs(waiting);
  if (message.told?.fromMs !== fromMs) {
    const { code, scope } = parked;
    // Another watcher has announced a pause that began before this waiting.
    if (fromMs === sinceMs) {
      await ports.events.send([parkedEvent(job, { ...parked, untilMs: parkEndMs(waiting, endingOf(job)) })]);
    }
    // Copy and event precede the acknowledgement, so a watcher that dies repeats both. Each announced pause has its end
    // announced, by this watcher or the next.
    return await again({ ...message, told: { fromMs, code, scope } }, job, ports);
  }
  // Resumption is emitted only after a message was taken: the platform may refuse again within the same pause.
  await lookAtWaiting(message, { job, waiting }, ports);
}

/** The job is not parked yet (and never will be if the parking worker is dead), or was resumed. */
async function lookAtNoLonger(
  message: ParkedWatch,
  { job, state }: { readonly job: ParkedJob; readonly state: JobState },
  ports: Ports,
): Promise<void> {
  const { sinceMs, told } = message;
  const nowMs = ports.nowMs();
  if (told === undefined) {
    if (nowMs < sinceMs + claimLifeMs) await again(message, job, ports);
    return;
  }
  const goesOn = state.pausedFromMs === undefined || state.pausedFromMs > told.fromMs;
  if (goesOn) return await emitResumed(told, job, ports);
  // The pause now belongs to the next watcher, which announces its end.
  if (state.parked !== undefined) return;
  const { resumedMs = nowMs } = message;
  if (nowMs < believedFromMs(resumedMs, job)) return await again({ ...message, resumedMs }, job, ports);
  // If it is parked again, it has another watcher.
  if (await ports.states.endPause(job.jobId)) await emitResumed(told, job, ports);
}

/** Closed time proves nothing: otherwise a hold of days would end its pause each night and begin a new one each day. */
function believedFromMs(resumedMs: number, { lots }: WatchedJob): number {
  if (lots === undefined) return resumedMs + longestUnprovenMs;
  return afterOpenTimeMs(openingsOfAll(lots), resumedMs, longestUnprovenMs);
}

async function lookAtWaiting(
  message: ParkedWatch,
  { job, waiting }: { readonly job: ParkedJob; readonly waiting: Waiting },
  ports: Ports,
): Promise<void> {
  const nowMs = ports.nowMs();
  const stop = (state: JobStop['state'], code: string, reason?: string) =>
    stopJob(job, { state, code, ...omitUndefined({ reason }), atMs: nowMs }, ports);
  if (nowMs >= parkEndMs(waiting, endingOf(job))) return await stop('expired', waiting.parked.code);
  const on = await holdsOnJob(job.head, ports);
  if (on === undefined) return await again(message, job, ports);
  const ofTemplate = on.find(({ scope }) => parkScopeOf(scope) === 'template');
  if (ofTemplate === undefined) {
    const goesOn = on.every(({ hold }) => isProbeOverdue(hold, nowMs));
    return await (goesOn ? resume(message, { job, waiting }, ports) : again(message, job, ports));
  }
  if (nowMs < mayResumeFromMs(waiting)) return await again(message, job, ports);
  const mayAsk = nowMs >= nextQuestionMs(message, nowMs);
  const sinceMs = Math.max(message.sinceMs, ofTemplate.hold.sinceMs);
  const { scope, hold } = ofTemplate;
  const standing = await templateReadiness(job.head, { sinceMs, nowMs, mayAsk }, ports);
  if (standing === 'disabled') return await stop('failed', '132016');
  if (standing === 'gone') return await stop('failed', hold.byReading ? 'template_deleted' : '132001');
  // A paused template that is rejected may be approved again; a review that rejects it has ended.
  if (standing === 'rejected' && hold.byReading)
    return await stop('failed', 'template_changed', notApproved('REJECTED'));
  if (standing === 'back') {
    const { wabaId } = job.head;
    await ports.holds.change(wabaId, endedByReading(scope, hold.sinceMs, ports.nowMs()));
    ports.log('hold.ended', { wabaId, scope });
    if (on.length === 1) return await resume(message, { job, waiting }, ports);
  }
  await again({ ...message, ...(mayAsk ? { askedAtMs: nowMs } : {}) }, job, ports);
}

/** Returns the holds on a job's messages, the widest first, or undefined while the whole platform is down. */
async function holdsOnJob(head: JobHead, { holds, isDown }: Ports): Promise<HeldBy[] | undefined> {
  if (await isDown()) return undefined;
  return holdsOn(await holds.find(head.wabaId), head);
}

/**
 * Resumes a job without holds, or one whose overdue holds no message probes because the rest is in the fan-out. The
 * next look sees another run's result.
 */
async function resume(
  message: ParkedWatch,
  { job, waiting }: { readonly job: ParkedJob; readonly waiting: Waiting },
  ports: Ports,
): Promise<void> {
  const { jobId, clientId } = job;
  const resumed = await ports.states.resume(jobId, waiting.parked);
  if (resumed) ports.log('job.resumed', { jobId, clientId });
  await again({ ...message, ...(resumed ? { resumedMs: ports.nowMs() } : {}) }, job, ports);
}

/**
 * A template that refused again after approval is trusted more slowly: after as long as the pause lasted before, ten
 * minutes at most.
 */
function mayResumeFromMs(waiting: Waiting): number {
  const { sinceMs } = waiting.parked;
  return sinceMs + Math.min(longestQuietMs, sinceMs - pauseFromMs(waiting));
}

/** The interval of questions grows to ten minutes; usually a hint comes first (D42). */
function nextQuestionMs({ sinceMs, askedAtMs }: ParkedWatch, nowMs: number): number {
  return askedAtMs === undefined ? sinceMs : askedAtMs + Math.min(longestQuietMs, (nowMs - sinceMs) / 4);
}

async function emitResumed(told: NonNullable<ParkedWatch['told']>, job: ParkedJob, ports: Ports): Promise<void> {
  await ports.events.send([resumedEvent(job, { ...told, sinceMs: told.fromMs }, ports.nowMs())]);
}

async function stopJob({ jobId, clientId, head }: ParkedJob, stop: JobStop, ports: Ports): Promise<void> {
  if (!(await ports.states.stop(head, stop))) return;
  ports.log('job.stopped', { jobId, clientId, ...omitUndefined({ code: stop.code }) });
}

/** Queues the next look, not before the job's next opening (D56). */
async function again(message: ParkedWatch, { lots }: WatchedJob, ports: Ports): Promise<void> {
  const nowMs = ports.nowMs();
  const delaySeconds = parkDelaySeconds(nowMs - (message.resumedMs ?? message.sinceMs));
  await ports.queue.sendLater(message, Math.max(delaySeconds, closedSeconds(lots, nowMs)));
}

function endingOf({ head: { expiresAtMs }, lots }: WatchedJob): Ending {
  return { expiresAtMs, lots };
}
