import type { ItemKey } from '../aws/item-key.ts';

/**
 * The list of acts of users, and of operators by their commands (`command.`), is closed; `infra/ops audit --what`
 * takes its words.
 */
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
 * The act concerned these: a closed list of ids and counts. Recipients, free texts and secrets have no key here; a URL
 * of a receiver may carry a secret, so URLs have none either.
 */
export interface Audited {
  readonly did?: string;
  readonly wabaId?: string;
  /** The platform gave the template this id. */
  readonly templateId?: string;
  readonly documentIds?: readonly string[];
  readonly dispatchId?: string;
  readonly campaignId?: number;
  readonly clientId?: number;
  readonly credential?: string;
  readonly queue?: string;
  readonly table?: string;
  readonly eventType?: string;
  /** A hold has it. */
  readonly scope?: string;
  /** The value is `part`, `sealing`, `sent`, `failed`, or a limit a second. */
  readonly how?: string;
  readonly count?: number;
}

/**
 * `unknown` ended in a 5xx, and may have been done. Commands write `begun` before they act, then `done` or `failed`;
 * one that has `begun` alone was killed.
 */
export type AuditOutcome = 'done' | 'unknown' | 'begun' | 'failed';

export interface AuditEntry {
  /** The act was done for this client; an operator's command is done for none. */
  readonly whose: number | 'OPERATOR';
  /** The name is a user's; an operator is called what AWS or the machine calls the one who typed the command. */
  readonly who: string;
  /** The user's own client stands here if it is another. */
  readonly ofClientId?: number;
  readonly what: AuditAct;
  readonly on: Audited;
  readonly outcome: AuditOutcome;
  /** This line ends the line `begun` with that id. */
  readonly ends?: string;
  readonly atMs: number;
  readonly id: string;
}

export const auditKeptDays = 400;

/** Names a month of a client: one that logs in ten times a second has no more than DynamoDB takes in a partition. */
export function auditPartition(whose: AuditEntry['whose'], month: string): string {
  return `AUDIT#${whose}#${month}`;
}

export function auditKey({ whose, atMs, id }: Pick<AuditEntry, 'whose' | 'atMs' | 'id'>): ItemKey {
  const at = new Date(atMs).toISOString();
  return { pk: auditPartition(whose, at.slice(0, 7)), sk: `${at}#${id}` };
}

/** Returns when DynamoDB may remove a line, in seconds. */
export function auditExpirySeconds(atMs: number): number {
  return Math.ceil(atMs / 1_000) + auditKeptDays * 86_400;
}

/** Returns the months of a period, each as `2026-11`, the earliest first. */
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
