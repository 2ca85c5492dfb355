import { correlated, correlationId } from '../../observe/correlation.ts';
import type { LogEvent, LogFacts } from '../../observe/log.ts';

/** These events are summed per batch: the table shows each message, and single lines were most of the log's cost. */
const summed: ReadonlySet<LogEvent> = new Set<LogEvent>([
  'send.claim_failed',
  'send.expired',
  'send.held',
  'send.dispatch_not_read',
  'send.retry',
  'send.sent',
]);

const prefix = 'send.';

type Log = (event: LogEvent, facts: LogFacts) => void;

export interface BatchLog {
  readonly log: Log;
  /** Logs the sums of the batch, by event and by code or error, with the correlation ids. */
  end(count: number): void;
}

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
      // A single correlation id stands where it does in any other line.
      if (others.length === 0) correlated(only, () => log('send.batch', { count, tally }));
      else log('send.batch', { count, tally, correlationIds: [...correlationIds] });
    },
  };
}
