import { correlated, correlationId } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';

/**
 * What need not be found by the id of its message: where it is now, the table says. One line each was most of what the log
 * of a message cost, the more the more messages were in each other's way.
 */
const summed: ReadonlySet<LogEvent> = new Set<LogEvent>([
  'dispatch.claim_failed',
  'dispatch.expired',
  'dispatch.held',
  'dispatch.job_not_read',
  'dispatch.retry',
  'dispatch.sent',
  'dispatch.slot_missed',
]);

const prefix = 'dispatch.';

type Log = (event: LogEvent, facts: LogFacts) => void;

export interface BatchLog {
  /** As the port, but for what is summed up. */
  readonly log: Log;
  /** Writes the line of the batch: how often each event was, by its code or error, and on whose behalf. None when none was. */
  end(count: number): void;
}

/** The log of one batch. */
export function batchLog({ log }: { readonly log: Log }): BatchLog {
  const tally: Record<string, number> = {};
  const correlationIds = new Set<string>();
  return {
    log: (event, facts) => {
      if (!summed.has(event)) return log(event, facts);
      const name = [event.slice(prefix.length), facts.code ?? facts.error]
        .filter((part) => part !== undefined)
        .join('_');
      tally[name] = (tally[name] ?? 0) + 1;
      const id = correlationId();
      if (id !== undefined) correlationIds.add(id);
    },
    end: (count) => {
      if (Object.keys(tally).length === 0) return;
      const [only, ...others] = correlationIds;
      // One request is named as in every other line.
      if (others.length === 0) correlated(only, () => log('dispatch.batch', { count, tally }));
      else log('dispatch.batch', { count, tally, correlationIds: [...correlationIds] });
    },
  };
}
