import type { Audit, Deed } from '../../lib/audit/audit.ts';
import type { AuditOutcome } from '../../lib/audit/entry.ts';

/** The audit in memory has the entries of the pages. */
export class MemoryAudit implements Audit {
  readonly noted: (Omit<Deed, 'caller'> & { readonly userId: string; readonly outcome: AuditOutcome })[] = [];

  async note({ caller: { userId }, ...deed }: Deed, outcome: AuditOutcome): Promise<void> {
    this.noted.push({ ...deed, userId, outcome });
  }
}
