import { ulid } from 'ulid';
import { documents, environmentVariable } from '../aws/deployed.ts';
import { log } from '../observe/log.ts';
import { count } from '../observe/metrics.ts';
import { type Audit, usersAudit } from './audit.ts';
import { auditWriter } from './audit-store.ts';

/** Builds the place where pages note what their callers do. */
export function deployedAudit(): { readonly audit: Audit } {
  const append = auditWriter(documents(), environmentVariable('AUDIT_TABLE'));
  return { audit: usersAudit({ append, nowMs: Date.now, newId: () => ulid(), log, count }) };
}
