import type { Audit, Deed } from '../../lib/audit/audit.ts';
import type { AuditOutcome } from '../../lib/audit/entry.ts';

/** An audit in memory, with the entries of the pages. */
export class MemoryAudit implements Audit {
  readonly noted: (Omit<Deed, 'caller'> & { readonly userId: string; readonly outcome: AuditOutcome })[] = [];

  async note({ caller: { userId }, ...deed }: Deed, outcome: AuditOutcome): Promise<void> {
    this.noted.push({ ...deed, userId, outcome });
  }
}
