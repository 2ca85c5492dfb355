import type { Audit, PerformedAct } from '../../lib/audit/audit.ts';
import type { AuditOutcome } from '../../lib/audit/entry.ts';

/** The audit in memory has the entries of the pages. */
export class MemoryAudit implements Audit {
  readonly noted: (Omit<PerformedAct, 'caller'> & { readonly userId: string; readonly outcome: AuditOutcome })[] = [];

  async note({ caller: { userId }, ...deed }: PerformedAct, outcome: AuditOutcome): Promise<void> {
    this.noted.push({ ...deed, userId, outcome });
  }
}
