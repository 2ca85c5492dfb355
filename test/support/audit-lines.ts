import type { Target } from '../../infra/operate/target.ts';
import { auditReader } from '../../lib/audit/audit-reading-store.ts';
import type { AuditEntry } from '../../lib/audit/entry.ts';
import { tableOf } from '../../lib/aws/table.ts';

/** Returns a client's audit entries of the last ten minutes. */
export async function auditLinesOf(
  { documentClient, tableName }: Target,
  clientId: number,
): Promise<readonly AuditEntry[]> {
  const read = auditReader(tableOf(documentClient, tableName('audit')));
  const nowMs = Date.now();
  const found: AuditEntry[] = [];
  for await (const page of read(clientId, { fromMs: nowMs - 600_000, toMs: nowMs + 60_000 })) found.push(...page);
  return found;
}
