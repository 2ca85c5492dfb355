/** The secret is encrypted for its client (sealing.ts). */
export interface SealedSecret {
  readonly sealed: string;
  readonly createdAtMs: number;
  /** The current secret has none; the one before it signs until this moment. */
  readonly validUntilMs?: number | undefined;
}

/** The service switches a configuration off because the receiver answered 410, or only failed for days. */
export type DisabledReason = 'gone' | 'failing';

/** A client's events go there (D33). */
export interface WebhookConfig {
  readonly clientId: number;
  readonly url: string;
  readonly active: boolean;
  /** The client has chosen these kinds, if any (D41). A later version may store kinds that this one does not know. */
  readonly events?: readonly string[] | undefined;
  /** The current secret is first, then at most the one before it. */
  readonly secrets: readonly SealedSecret[];
  /** The version is the optimistic lock: each write adds one and names the version before it. */
  readonly version: number;
  readonly disabledReason?: DisabledReason | undefined;
  readonly disabledAtMs?: number | undefined;
  readonly updatedAtMs: number;
}

/**
 * A PUT without `active` means true for a new configuration, else no change (D33); without `events`, no change (D41).
 */
export interface ConfigChange {
  readonly clientId: number;
  readonly url: string;
  readonly active?: boolean | undefined;
  readonly events?: readonly string[] | undefined;
  readonly nowMs: number;
}

/** A replaced secret signs this long beside the new one (D34). */
export const rotationOverlapMs = 24 * 3_600_000;

/**
 * Returns the configuration after a PUT. `newSecret` becomes current; its predecessor signs for another 24 hours, an
 * older one is dropped. A given `active` clears the service's own reason for switching off.
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
    events,
    secrets: newSecret === undefined ? validSecrets(before?.secrets ?? [], nowMs) : rotated(before, newSecret, nowMs),
    version: (before?.version ?? 0) + 1,
    ...kept,
    updatedAtMs: nowMs,
  };
}

/** Returns the secrets that sign now, newest first. */
export function validSecrets(secrets: readonly SealedSecret[], nowMs: number): readonly SealedSecret[] {
  return secrets.filter(({ validUntilMs }) => validUntilMs === undefined || nowMs < validUntilMs);
}

/** Tells whether the noted failures are forgotten: the address has changed, or a switched-off receiver starts again. */
export function forgetsFailures(before: WebhookConfig | undefined, after: WebhookConfig): boolean {
  return before !== undefined && after.active && (!before.active || before.url !== after.url);
}

function rotated(before: WebhookConfig | undefined, newSecret: SealedSecret, nowMs: number): readonly SealedSecret[] {
  const current = before?.secrets[0];
  if (current === undefined) return [newSecret];
  return [newSecret, { ...current, validUntilMs: nowMs + rotationOverlapMs }];
}
