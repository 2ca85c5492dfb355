import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { nameOf } from '../../observe/name-of.ts';
import { dispatchIdOf } from '../job.ts';
import type { RunPorts } from './call-recipient.ts';
import { type Outcomes, openPlaces, type Slice, sliceSize } from './claims/slice.ts';
import type { Slices } from './claims/slice-store.ts';

const metricOf = {
  sent: 'MessagesSent',
  failed: 'MessagesFailed',
  expired: 'MessagesExpired',
  unknown: 'MessagesUnknown',
} as const;

/** The slices of a client's chunk, whose writes say in metrics and log what became of messages, and which of them failed. */
export function reportedSlices(clientId: number, { slices, log }: Pick<RunPorts, 'slices' | 'log'>): Slices {
  const logged = async <T>(write: () => Promise<T>, told: (error: unknown) => readonly [LogEvent, LogFacts]) => {
    try {
      return await write();
    } catch (error) {
      log(...told(error));
      throw error;
    }
  };
  const reported = (before: Slice, ended: Slice | undefined) => {
    if (ended !== undefined) report(before, ended, (event, facts) => log(event, { ...facts, clientId }));
    return ended;
  };
  return {
    ...slices,
    claim: async (claim) =>
      await logged(
        () => slices.claim(claim),
        (error) => ['dispatch.claim_failed', { error: nameOf(error) }],
      ),
    end: async (own, outcomes) =>
      reported(
        own,
        await logged(
          () => slices.end(own, outcomes),
          (error) => ['dispatch.end_failed', notRecorded(own, outcomes, error)],
        ),
      ),
    endForTheDead: async (seen, ...how) => reported(seen, await slices.endForTheDead(seen, ...how)),
  };
}

/** How many of the ten messages from this one on have left: they end `unknown` unless it is recorded after all. */
function notRecorded({ key }: Slice, outcomes: Outcomes, error: unknown): LogFacts {
  const sent = [...outcomes.values()].filter(({ state }) => state === 'sent').length;
  const dispatchId = dispatchIdOf({ jobId: key.jobId, index: key.slice * sliceSize });
  return { dispatchId, count: sent, error: nameOf(error) };
}

/** Once for every outcome: by the run whose write made it one. What was taken was logged by its call. */
function report(before: Slice, { key, outcomes }: Slice, log: RunPorts['log']): void {
  for (const place of openPlaces(before)) {
    const outcome = outcomes[place];
    if (outcome === undefined || outcome.state === 'again') continue;
    const isHeld = outcome.state === 'sent' && outcome.held !== undefined;
    count(isHeld ? 'MessagesHeld' : metricOf[outcome.state]);
    if (outcome.state === 'sent') continue;
    const dispatchId = dispatchIdOf({ jobId: key.jobId, index: key.slice * sliceSize + place });
    log(`dispatch.${outcome.state}`, { dispatchId, code: outcome.code });
  }
}
