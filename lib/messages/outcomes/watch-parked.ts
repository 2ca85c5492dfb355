import { present } from '../../keys/present.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { claimLifeMs } from '../dispatch/claim.ts';
import type { ToldJob } from '../dispatch/completed-event.ts';
import type { ParkedWatch, ParkedWatchQueue } from '../fan-out/watch-message.ts';
import { aboutJob, type JobHead } from '../job.ts';
import { type JobState, type JobStates, type JobStop, parkDelaySeconds, parkEndMs } from '../job-state.ts';
import { parkedEvent, resumedEvent } from './parked-event.ts';
import { type StandingPorts, templateStanding } from './template-standing.ts';

export interface ParkedPorts extends StandingPorts {
  readonly queue: ParkedWatchQueue;
  readonly states: JobStates;
  /** Undefined for a job that was taken back, or is forgotten. */
  readonly headOf: (jobId: string) => Promise<JobHead | undefined>;
}

interface Ports extends ParkedPorts {
  readonly events: EventSink;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

interface ParkedJob extends ToldJob {
  readonly head: JobHead;
}

/** The longest time between two questions to the platform: a job in ten parts asks for one template ten times. */
const longestQuietMs = 600_000;

/**
 * Looks once at a job that was parked, or is about to be (D46). The first look tells its client, each further one how its
 * template stands: then the job goes on, or ends unsent, or is looked at again later. The copy, and the event, come before
 * the acknowledgement; a watcher that has told of the waiting tells of its end too, even when it died between the two.
 */
export async function lookAtParked(message: ParkedWatch, ports: Ports): Promise<void> {
  const { jobId, clientId, acceptedAtMs, sinceMs } = message;
  const head = await ports.headOf(jobId);
  if (head === undefined) {
    ports.log('job.watch_ended', { jobId, clientId });
    return;
  }
  const job = { jobId, clientId, acceptedAtMs, about: aboutJob(head), head };
  const state = (await ports.states.of([jobId])).get(jobId) ?? {};
  if (state.stop !== undefined) return;
  if (state.parked?.sinceMs !== sinceMs) return await lookAtNoLonger(message, job, ports);
  if (message.told !== true) {
    await ports.events.send([parkedEvent(job, { sinceMs, untilMs: parkEndMs(state.parked, head) })]);
    return await again({ ...message, told: true }, ports);
  }
  await lookAtWaiting(message, { job, parked: state.parked }, ports);
}

/** Of a job that nobody has parked yet, nor ever will once the worker that wanted to is dead; or that goes on. */
async function lookAtNoLonger(message: ParkedWatch, job: ParkedJob, ports: Ports): Promise<void> {
  if (message.told === true) await tellResumed(message, job, ports);
  else if (ports.nowMs() < message.sinceMs + claimLifeMs) await again(message, ports);
}

async function lookAtWaiting(
  message: ParkedWatch,
  { job, parked }: { readonly job: ParkedJob; readonly parked: NonNullable<JobState['parked']> },
  ports: Ports,
): Promise<void> {
  const nowMs = ports.nowMs();
  const stop = (state: JobStop['state'], code: string) => stopJob(job, { state, code, atMs: nowMs }, ports);
  if (nowMs >= parkEndMs(parked, job.head)) return await stop('expired', parked.code);
  const mayAsk = nowMs >= nextQuestionMs(message, nowMs);
  const standing = await templateStanding(job.head, { sinceMs: message.sinceMs, mayAsk }, ports);
  if (standing === 'waiting') return await again({ ...message, ...(mayAsk ? { askedAtMs: nowMs } : {}) }, ports);
  if (standing === 'disabled') return await stop('failed', '132016');
  if (standing === 'gone') return await stop('failed', '132001');
  if (!(await ports.states.resume(job.jobId, message.sinceMs))) {
    // Somebody else ended it, or this run did and the reply was lost: which of the two, the next look sees.
    return await again(message, ports);
  }
  await tellResumed(message, job, ports);
}

/** As rarely as it is looked at in the beginning, and every ten minutes in the end: mostly a hint comes first (D42). */
function nextQuestionMs({ sinceMs, askedAtMs }: ParkedWatch, nowMs: number): number {
  return askedAtMs === undefined ? sinceMs : askedAtMs + Math.min(longestQuietMs, (nowMs - sinceMs) / 4);
}

async function tellResumed({ sinceMs }: ParkedWatch, job: ParkedJob, ports: Ports): Promise<void> {
  await ports.events.send([resumedEvent(job, sinceMs, ports.nowMs())]);
  ports.log('job.resumed', { jobId: job.jobId, clientId: job.clientId });
}

async function stopJob({ jobId, clientId, acceptedAtMs }: ParkedJob, stop: JobStop, ports: Ports): Promise<void> {
  if (!(await ports.states.stop({ jobId, acceptedAtMs }, stop))) return;
  ports.log('job.stopped', { jobId, clientId, ...present({ code: stop.code }) });
}

async function again(message: ParkedWatch, ports: Ports): Promise<void> {
  await ports.queue.sendLater(message, parkDelaySeconds(ports.nowMs() - message.sinceMs));
}
