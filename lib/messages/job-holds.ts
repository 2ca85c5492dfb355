import type { LogEvent, LogFacts } from '../observe/log.ts';
import { nameOf } from '../observe/name-of.ts';
import type { JobHead } from './job.ts';
import { type ByJobState, byJobState, type JobParked, type JobStates, type JobStop } from './job-state.ts';

/** Codes with which the platform refuses every message of a template (FACTS, error codes). */
const pausedCode = 132015;
const disabledCode = 132016;

type HeldMessage = Pick<JobHead, 'jobId' | 'clientId' | 'acceptedAtMs' | 'expiresAtMs' | 'correlationId'>;

export interface HoldPorts {
  readonly states: Pick<JobStates, 'park' | 'stop' | 'endPause'>;
  /** Has somebody look at the parked job until its template is back or its time is over. */
  readonly watchParked: (message: HeldMessage, sinceMs: number) => Promise<void>;
  readonly nowMs: () => number;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
}

/** What the platform's answer to one message says of all the others of its job. */
export interface JobHolds {
  /**
   * Parks or stops the job of a message that was refused for its template, and says what the message itself is to do;
   * undefined for any other refusal. Never throws: a job that could not be held back is held back by its next message.
   */
  byRefusal(
    message: HeldMessage,
    refusal: { readonly code: number | undefined; readonly reason?: string },
  ): Promise<Exclude<ByJobState, { kind: 'send' }> | undefined>;
  /**
   * Ends the pauses of jobs of which the platform has taken a message. Never throws: the next message that is taken does it.
   */
  taken(jobIds: readonly string[]): Promise<void>;
}

/** For one batch: messages of one job that are refused together hold it back once. */
export function jobHolds(ports: HoldPorts): JobHolds {
  const parkings = new Map<string, Promise<JobParked>>();
  const stops = new Map<string, Promise<JobStop>>();
  return {
    byRefusal: async (message, { code, reason }) => {
      const { jobId } = message;
      if (code === pausedCode) {
        const parking = parkings.get(jobId) ?? parkedBy(message, ports);
        parkings.set(jobId, parking);
        return heldBy({ parked: await parking }, message);
      }
      if (code === disabledCode) {
        const stopping = stops.get(jobId) ?? stoppedBy(message, reason, ports);
        stops.set(jobId, stopping);
        return heldBy({ stop: await stopping }, message);
      }
      return undefined;
    },
    taken: async (jobIds) => {
      await Promise.all(
        [...new Set(jobIds)].map(async (jobId) => {
          await ports.states.endPause(jobId).catch((error: unknown) => {
            ports.log('job.pause_not_ended', { jobId, error: nameOf(error) });
          });
        }),
      );
    },
  };

  function heldBy(state: Parameters<typeof byJobState>[0], message: HeldMessage) {
    const by = byJobState(state, message, ports.nowMs());
    return by.kind === 'send' ? undefined : by;
  }
}

/** The watcher is told first: a job that is parked and that is not watched would wait until it expires. */
async function parkedBy(message: HeldMessage, ports: HoldPorts): Promise<JobParked> {
  const { jobId, clientId } = message;
  const parked: JobParked = { code: 'template_paused', sinceMs: ports.nowMs() };
  try {
    await ports.watchParked(message, parked.sinceMs);
    if (await ports.states.park(jobId, parked)) ports.log('job.parked', { jobId, clientId });
  } catch (error) {
    ports.log('job.not_held', { jobId, clientId, error: nameOf(error) });
  }
  return parked;
}

async function stoppedBy(message: HeldMessage, reason: string | undefined, ports: HoldPorts): Promise<JobStop> {
  const { jobId, clientId } = message;
  const why = reason === undefined ? {} : { reason };
  const stop: JobStop = { state: 'failed', code: String(disabledCode), ...why, atMs: ports.nowMs() };
  try {
    if (await ports.states.stop(message, stop)) ports.log('job.stopped', { jobId, clientId, code: stop.code });
  } catch (error) {
    ports.log('job.not_held', { jobId, clientId, error: nameOf(error) });
  }
  return stop;
}
