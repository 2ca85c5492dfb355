import { omitUndefined } from '../../keys/omit-undefined.ts';

/** A stored signing secret, encrypted for its client (sealing.ts). */
export interface SealedSecret {
  readonly sealed: string;
  readonly createdAtMs: number;
  /** Absent for the current secret; the one before it signs until this moment. */
  readonly validUntilMs?: number | undefined;
}

/** Why the service switched a configuration off: the receiver answered 410, or only failed for days. */
export type DisabledReason = 'gone' | 'failing';

/** Where a client's events go (D33). */
export interface WebhookConfig {
  readonly clientId: number;
  readonly url: string;
  readonly active: boolean;
  /**
   * The chosen kinds; absent until the client has chosen (D41). A later version may store kinds that this one does not
   * know.
   */
  readonly events?: readonly string[] | undefined;
  /** The current secret, then at most the one before it. */
  readonly secrets: readonly SealedSecret[];
  /** The optimistic lock: each write adds one and names the version before it. */
  readonly version: number;
  readonly disabledReason?: DisabledReason | undefined;
  readonly disabledAtMs?: number | undefined;
  readonly updatedAtMs: number;
}

/**
 * A PUT's wish. `active` absent: true for a new configuration, else unchanged (D33). `events` absent: unchanged (D41).
 */
export interface ConfigChange {
  readonly clientId: number;
  readonly url: string;
  readonly active?: boolean | undefined;
  readonly events?: readonly string[] | undefined;
  readonly nowMs: number;
}

/** How long a replaced secret signs beside the new one (D34). */
export const rotationOverlapMs = 24 * 3_600_000;

/**
 * The configuration after a PUT. `newSecret` becomes current; its predecessor signs for another 24 hours, an older one
 * is dropped. A given `active` clears the service's own reason for switching off.
 */
export function changedConfig(
  before: WebhookConfig | undefined,
  change: ConfigChange,
  newSecret: SealedSecret | undefined,
): WebhookConfig {
  const { clientId, url, active, events = before?.events, nowMs } = change;
  const kept =
    active === undefined ? { disabledReason: before?.disabledReason, disabledAtMs: before?.disabledAtMs } : {};
  return {
    clientId,
    url,
    active: active ?? before?.active ?? true,
    ...omitUndefined({ events }),
    secrets: newSecret === undefined ? validSecrets(before?.secrets ?? [], nowMs) : rotated(before, newSecret, nowMs),
    version: (before?.version ?? 0) + 1,
    ...kept,
    updatedAtMs: nowMs,
  };
}

/** The secrets that sign now, newest first. */
export function validSecrets(secrets: readonly SealedSecret[], nowMs: number): readonly SealedSecret[] {
  return secrets.filter(({ validUntilMs }) => validUntilMs === undefined || nowMs < validUntilMs);
}

/** Whether the noted failures are forgotten: the address has changed, or a switched-off receiver starts again. */
export function startsAfresh(before: WebhookConfig | undefined, after: WebhookConfig): boolean {
  return before !== undefined && after.active && (!before.active || before.url !== after.url);
}

function rotated(before: WebhookConfig | undefined, newSecret: SealedSecret, nowMs: number): readonly SealedSecret[] {
  const current = before?.secrets[0];
  if (current === undefined) return [newSecret];
  return [newSecret, { ...current, validUntilMs: nowMs + rotationOverlapMs }];
}
