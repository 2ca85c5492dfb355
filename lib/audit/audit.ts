import { Refusal } from '../http/refusal.ts';
import { errorName } from '../observe/error-name.ts';
import type { LogEvent, LogFacts } from '../observe/log.ts';
import type { AuditEntry, Audited, AuditOutcome, UserAct } from './entry.ts';

/** A user did it for a client: its own, or with `BSP_CN` another. */
export interface PerformedAct {
  readonly caller: { readonly userId: string; readonly clientId: number };
  readonly clientId: number;
  readonly act: UserAct;
  readonly on: Audited;
}

/** A page notes here what its caller has done. */
export interface Audit {
  /** Never rejects, and takes a second at most: what was done is done, and its caller is told so. */
  note(deed: PerformedAct, outcome: AuditOutcome): Promise<void>;
}

export interface AuditPorts {
  /** Adds one line. Throws when the table cannot be reached before `deadline`. */
  readonly append: (entry: AuditEntry, deadline: AbortSignal) => Promise<void>;
  readonly nowMs: () => number;
  readonly newId: () => string;
  readonly log: (event: LogEvent, facts: LogFacts) => void;
  readonly count: (name: 'AuditNotWritten') => void;
}

/** One attempt of the table's client is cut after three times that. */
const longestWaitMs = 1_000;

/** Audits what users do. A line that cannot be written is in the log instead, and counted. */
export function usersAudit({ append, nowMs, newId, log, count }: AuditPorts): Audit {
  return {
    note: async (deed, outcome) => {
      try {
        await append(entryOf(deed, outcome, { atMs: nowMs(), id: newId() }), AbortSignal.timeout(longestWaitMs));
      } catch (error) {
        log('audit.not_written', { ...factsOf(deed), outcome, error: errorName(error) });
        count('AuditNotWritten');
      }
    },
  };
}

function entryOf(
  { caller, clientId, act, on }: PerformedAct,
  outcome: AuditOutcome,
  made: { readonly atMs: number; readonly id: string },
): AuditEntry {
  const elsewhere = caller.clientId === clientId ? {} : { ofClientId: caller.clientId };
  return { whose: clientId, who: caller.userId, ...elsewhere, what: act, on, outcome, ...made };
}

/** Leaves out the DID: no phone number is in a log (R44). */
function factsOf({ caller: { userId }, clientId, act, on }: PerformedAct): LogFacts {
  const { wabaId, templateId, documentIds, dispatchId, campaignId, count } = on;
  return { clientId, userId, act, wabaId, templateId, documentIds, dispatchId, campaignId, count };
}

/**
 * Does `work` and writes its audit line. `found` adds facts of the result, or is undefined when nothing changed. A
 * refusal changed nothing and has no line; a 5xx may have, and its line is `unknown`.
 */
export async function audited<T>(
  audit: Audit,
  deed: PerformedAct,
  work: () => Promise<T>,
  found: (result: T) => Audited | undefined = () => ({}),
): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) await audit.note(deed, 'unknown');
    throw error;
  }
  const more = found(result);
  if (more !== undefined) await audit.note({ ...deed, on: { ...deed.on, ...more } }, 'done');
  return result;
}
