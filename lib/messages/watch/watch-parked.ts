import { present } from '../../keys/present.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import type { ToldJob } from '../dispatch/completed-event.ts';
import { claimLifeMs } from '../dispatch/deadlines.ts';
import { ended, type HeldBy, holdsOn, isUnasked } from '../holds/hold.ts';
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
import { parkedEvent, resumedEvent } from './parked-event.ts';
import { type StandingPorts, templateStanding } from './template-standing.ts';
import { closedSeconds, type ParkedWatch, type ParkedWatchQueue } from './watch-message.ts';

export interface ParkedPorts extends StandingPorts {
  readonly queue: ParkedWatchQueue;
  readonly states: Pick<JobStates, 'of' | 'stop' | 'resume' | 'endPause'>;
  readonly holds: Pick<HoldsOfWabas, 'find' | 'change'>;
  /** Whether the platform as a whole is down. */
  readonly isDown: () => Promise<boolean>;
  /** Undefined for a job that was taken back, or is forgotten. */
  readonly jobOf: (jobId: string) => Promise<WatchedJob | undefined>;
}

/** What is looked at of a job: with the lots of a send with a time of its own. */
export interface WatchedJob {
  readonly head: JobHead;
  readonly lots?: readonly Lot[];
}

interface Ports extends ParkedPorts {
  readonly events: EventSink;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

interface ParkedJob extends ToldJob, WatchedJob {}

/** The longest time between two questions to the platform: a job in ten parts asks for one template ten times. */
const longestQuietMs = 600_000;

/** A job that was resumed and has neither sent nor been refused since is believed after this long in which it might have been (D56). */
const longestUnprovenMs = 600_000;

/**
 * Looks once at a job that was parked, or is about to be (D46). The first look tells its client, each further one whether a hold
 * is on it still: where none is, the job goes on; else it ends unsent when its time is over, or is looked at again later. That it
 * goes on is told when a message was taken: what is free may refuse again, and then the job is parked again, within the same
 * pause, of which its client hears nothing. The copy, and the event, come before the acknowledgement; a watcher that has told of
 * a pause tells of its end too, or leaves that to the watcher of the next waiting, even when it died between the two.
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
    // Of a pause that began before this waiting, another watcher has told.
    if (fromMs === sinceMs) {
      await ports.events.send([parkedEvent(job, { ...parked, untilMs: parkEndMs(waiting, endingOf(job)) })]);
    }
    return await again({ ...message, told: { fromMs, code, scope } }, job, ports);
  }
  await lookAtWaiting(message, { job, waiting }, ports);
}

/** Of a job that is not parked yet, and never will be once the worker that wanted to is dead; or that was resumed. */
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
  if (goesOn) return await tellResumed(told, job, ports);
  // The pause is that of the next watcher, who tells of its end.
  if (state.parked !== undefined) return;
  const { resumedMs = nowMs } = message;
  if (nowMs < believedFromMs(resumedMs, job)) return await again({ ...message, resumedMs }, job, ports);
  // Parked again meanwhile, it has another watcher.
  if (await ports.states.endPause(job.jobId)) await tellResumed(told, job, ports);
}

/** What is closed proves nothing: believed overnight, a hold of days would end its pause each night, and begin another day each morning. */
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
  const stop = (state: JobStop['state'], code: string) => stopJob(job, { state, code, atMs: nowMs }, ports);
  if (nowMs >= parkEndMs(waiting, endingOf(job))) return await stop('expired', waiting.parked.code);
  const on = await holdsOnJob(job.head, ports);
  if (on === undefined) return await again(message, job, ports);
  const ofTemplate = on.find(({ scope }) => parkScopeOf(scope) === 'template');
  if (ofTemplate === undefined) {
    const goesOn = on.every(({ hold }) => isUnasked(hold, nowMs));
    return await (goesOn ? resume(message, { job, waiting }, ports) : again(message, job, ports));
  }
  if (nowMs < mayResumeFromMs(waiting)) return await again(message, job, ports);
  const mayAsk = nowMs >= nextQuestionMs(message, nowMs);
  const sinceMs = Math.max(message.sinceMs, ofTemplate.hold.sinceMs);
  const standing = await templateStanding(job.head, { sinceMs, mayAsk }, ports);
  if (standing === 'disabled') return await stop('failed', '132016');
  if (standing === 'gone') return await stop('failed', '132001');
  if (standing === 'back') {
    const { wabaId } = job.head;
    const { scope, hold } = ofTemplate;
    await ports.holds.change(wabaId, ended(scope, hold.sinceMs));
    ports.log('hold.ended', { wabaId, scope });
    if (on.length === 1) return await resume(message, { job, waiting }, ports);
  }
  await again({ ...message, ...(mayAsk ? { askedAtMs: nowMs } : {}) }, job, ports);
}

/** The holds on the messages of a job, the widest first; undefined while the platform as a whole is down. */
async function holdsOnJob(head: JobHead, { holds, isDown }: Ports): Promise<HeldBy[] | undefined> {
  if (await isDown()) return undefined;
  return holdsOn(await holds.find(head.wabaId), head);
}

/**
 * Nothing holds the job any more; or nothing that waits asks, for what is left of the job is in the fan-out: then that goes on
 * until a message of it meets the hold. Where another run has ended its waiting, the next look sees what it is now. */
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
 * A template that was called back and refused messages again is not trusted as soon as the first time: another waiting takes
 * as long as the pause had lasted before it, ten minutes at most.
 */
function mayResumeFromMs(waiting: Waiting): number {
  const { sinceMs } = waiting.parked;
  return sinceMs + Math.min(longestQuietMs, sinceMs - pauseFromMs(waiting));
}

/** As rarely as it is looked at in the beginning, and every ten minutes in the end: mostly a hint comes first (D42). */
function nextQuestionMs({ sinceMs, askedAtMs }: ParkedWatch, nowMs: number): number {
  return askedAtMs === undefined ? sinceMs : askedAtMs + Math.min(longestQuietMs, (nowMs - sinceMs) / 4);
}

async function tellResumed(told: NonNullable<ParkedWatch['told']>, job: ParkedJob, ports: Ports): Promise<void> {
  await ports.events.send([resumedEvent(job, { ...told, sinceMs: told.fromMs }, ports.nowMs())]);
}

async function stopJob({ jobId, clientId, head }: ParkedJob, stop: JobStop, ports: Ports): Promise<void> {
  if (!(await ports.states.stop(head, stop))) return;
  ports.log('job.stopped', { jobId, clientId, ...present({ code: stop.code }) });
}

/** The next look; at a job of which nothing may leave for a while, once it may (D56). */
async function again(message: ParkedWatch, { lots }: WatchedJob, ports: Ports): Promise<void> {
  const nowMs = ports.nowMs();
  const delaySeconds = parkDelaySeconds(nowMs - (message.resumedMs ?? message.sinceMs));
  await ports.queue.sendLater(message, Math.max(delaySeconds, closedSeconds(lots, nowMs)));
}

function endingOf({ head: { expiresAtMs }, lots }: WatchedJob): Ending {
  return { expiresAtMs, lots };
}
