import { errorName } from '../../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';
import { count } from '../../observe/metrics.ts';
import { messageIdOf } from '../dispatch/head.ts';
import { isResolved, type Outcomes, openPlaces, type Slice, sliceSize } from '../dispatch/slice.ts';
import type { Slices } from '../dispatch/slice-store.ts';
import type { RunPorts } from './post-message.ts';

const metricOf = {
  sent: 'MessagesSent',
  failed: 'MessagesFailed',
  expired: 'MessagesExpired',
  unknown: 'MessagesUnknown',
} as const;

/** Returns a client's slices whose writes report outcomes and failures in metrics and log. */
export function reportedSlices(clientId: number, { slices, log }: Pick<RunPorts, 'slices' | 'log'>): Slices {
  const logged = async <T>(write: () => Promise<T>, lineOfError: (error: unknown) => readonly [LogEvent, LogFacts]) => {
    try {
      return await write();
    } catch (error) {
      log(...lineOfError(error));
      throw error;
    }
  };
  const logOfClient: typeof log = (event, facts) => log(event, { ...facts, clientId });
  const reported = (before: Slice, ended: Slice | undefined) => {
    if (ended !== undefined) report(before, ended, logOfClient);
    return ended;
  };
  return {
    ...slices,
    claim: async (claim) =>
      await logged(
        () => slices.claim(claim),
        (error) => ['send.claim_failed', { error: errorName(error) }],
      ),
    end: async (own, outcomes, calls) =>
      reported(
        own,
        await logged(
          () => slices.end(own, outcomes, calls),
          (error) => ['send.end_failed', notRecorded(own, outcomes, error)],
        ),
      ),
    settle: async (seen, ...how) => {
      const late = await slices.settle(seen, ...how);
      if (late !== undefined) reportLate(seen, late, logOfClient);
      return late;
    },
    endForTheDead: async (seen, ...how) => reported(seen, await slices.endForTheDead(seen, ...how)),
  };
}

/** Counts messages of the slice that have left: they end `unknown` unless a later write records them. */
function notRecorded({ key }: Slice, outcomes: Outcomes, error: unknown): LogFacts {
  const sent = [...outcomes.values()].filter(({ state }) => state === 'sent').length;
  const messageId = messageIdOf({ dispatchId: key.dispatchId, index: key.slice * sliceSize });
  return { messageId, count: sent, error: errorName(error) };
}

/** Reports each outcome once: by the run whose write recorded it. The call has logged `sent` itself. */
function report(before: Slice, { key, outcomes }: Slice, log: RunPorts['log']): void {
  for (const place of openPlaces(before)) {
    const outcome = outcomes[place];
    if (outcome === undefined || outcome.state === 'again') continue;
    const isHeld = outcome.state === 'sent' && outcome.held !== undefined;
    count(isHeld ? 'MessagesHeld' : metricOf[outcome.state]);
    if (outcome.state === 'sent') continue;
    const messageId = messageIdOf({ dispatchId: key.dispatchId, index: key.slice * sliceSize + place });
    log(`send.${outcome.state}`, { messageId, code: outcome.code });
  }
}

/** The run that took the claimant for dead has reported the slice: new is only what is `unknown` no longer. */
function reportLate(before: Slice, { key, outcomes }: Slice, log: RunPorts['log']): void {
  for (const [place, outcome] of outcomes.entries()) {
    if (outcome === before.outcomes[place] || outcome === undefined || !isResolved(outcome)) continue;
    count('MessagesResolved');
    log('send.resolved', {
      messageId: messageIdOf({ dispatchId: key.dispatchId, index: key.slice * sliceSize + place }),
    });
  }
}
