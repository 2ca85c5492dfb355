import { type OperatorAudit, operatorAudit } from '../../infra/operate/operator-audit.ts';
import type { Progress } from '../../infra/operate/progress.ts';
import type { AuditEntry } from '../../lib/audit/entry.ts';

/** Keeps the audit of operators' commands in memory, with its entries. While `broken`, it rejects all. */
export function operatorAuditInMemory(): {
  readonly audit: OperatorAudit;
  readonly entries: AuditEntry[];
  readonly told: string[];
  broken: boolean;
} {
  const entries: AuditEntry[] = [];
  const told: string[] = [];
  let ids = 0;
  const memory = {
    ...{ entries, told, broken: false },
    audit: operatorAudit({
      append: async (entry) => {
        if (memory.broken) throw new Error('the table is away');
        entries.push(entry);
      },
      by: async () => 'someone',
      nowMs: () => 1_800_000_000_000,
      newId: () => `id-${++ids}`,
      tell: (line) => void told.push(line),
    }),
  };
  return memory;
}

/** Tells nothing of the progress of long work. */
export const silent: Progress = (_, work) => work();
