import type { ItemKey } from '../aws/item-key.ts';

/** What users do, and operators by their commands (`command.`): a closed list, whose words `npm run audit -- --what` takes. */
export const auditActs = [
  'login',
  'webhook.changed',
  'webhook.secret_changed',
  'template.created',
  'template.edited',
  'template.deleted',
  'template.enabled',
  'template.disabled',
  'dispatch.cancelled',
  'campaign.cancelled',
  'opt_out.stopped',
  'opt_out.lifted',
  'command.provision',
  'command.opt_outs_import',
  'command.events_replay',
  'command.outcome_resolve',
  'command.hold_end',
  'command.number_limit',
  'command.redrive',
  'command.redrive_drop',
  'command.put_back',
  'command.credential',
  'command.erase',
  'command.rotate_keys',
  'command.acceptance',
] as const;
export type AuditAct = (typeof auditActs)[number];
export type UserAct = Exclude<AuditAct, `command.${string}`>;
export type OperatorAct = Extract<AuditAct, `command.${string}`>;

/**
 * What it was done to: a closed list of ids and counts. No recipient, no text of anybody and no secret has a key here; a URL of a
 * receiver may carry one, so it has none either.
 */
export interface Audited {
  readonly did?: string;
  readonly wabaId?: string;
  /** The platform's id of a template. */
  readonly templateId?: string;
  readonly documentIds?: readonly string[];
  readonly jobId?: string;
  readonly campaignId?: number;
  readonly clientId?: number;
  readonly credential?: string;
  readonly queue?: string;
  readonly table?: string;
  readonly eventType?: string;
  /** Of a hold. */
  readonly scope?: string;
  /** Which kind of it: `part`, `sealing`, `sent`, `failed`, or a limit a second. */
  readonly how?: string;
  readonly count?: number;
}

/**
 * `unknown`: it ended in a 5xx, and may have been done. Commands write `begun` before they act, then `done` or `failed`; one that
 * has `begun` alone was killed.
 */
export type AuditOutcome = 'done' | 'unknown' | 'begun' | 'failed';

/** One line of the table `audit`. */
export interface AuditEntry {
  /** The client for which it was done; an operator's command is none's. */
  readonly whose: number | 'OPERATOR';
  /** The name of a user; of an operator, what AWS or the machine calls the one who typed the command. */
  readonly who: string;
  /** The user's own client, where that is another. */
  readonly ofClientId?: number;
  readonly what: AuditAct;
  readonly on: Audited;
  readonly outcome: AuditOutcome;
  /** The id of the line `begun` that this one ends. */
  readonly ends?: string;
  readonly atMs: number;
  readonly id: string;
}

export const auditKeptDays = 400;

/** A partition is a month of a client: one that logs in ten times a second has no more than DynamoDB takes. */
export function auditPartition(whose: AuditEntry['whose'], month: string): string {
  return `AUDIT#${whose}#${month}`;
}

export function auditKey({ whose, atMs, id }: Pick<AuditEntry, 'whose' | 'atMs' | 'id'>): ItemKey {
  const at = new Date(atMs).toISOString();
  return { pk: auditPartition(whose, at.slice(0, 7)), sk: `${at}#${id}` };
}

/** When DynamoDB may remove it, in seconds. */
export function auditExpirySeconds(atMs: number): number {
  return Math.ceil(atMs / 1_000) + auditKeptDays * 86_400;
}

/** The months of a period, each as `2026-11`, the earliest first. */
export function monthsOf({ fromMs, toMs }: { readonly fromMs: number; readonly toMs: number }): string[] {
  const last = new Date(toMs);
  const months: string[] = [];
  for (let month = firstOfMonth(new Date(fromMs)); month <= last; month = firstOfMonth(month, 1)) {
    months.push(month.toISOString().slice(0, 7));
  }
  return months;
}

function firstOfMonth(day: Date, later = 0): Date {
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + later));
}
