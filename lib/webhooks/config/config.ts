import { present } from '../../keys/present.ts';

/** A signing secret as it is stored: encrypted for its client (sealing.ts). */
export interface SealedSecret {
  readonly sealed: string;
  readonly createdAtMs: number;
  /** Absent for the current secret; of the one before it, the moment from which it signs nothing more. */
  readonly validUntilMs?: number | undefined;
}

/** Why the service itself switched a configuration off: the receiver answered 410, or nothing but failures for days. */
export type DisabledReason = 'gone' | 'failing';

/** Where a client's events go (D33). */
export interface WebhookConfig {
  readonly clientId: number;
  readonly url: string;
  readonly active: boolean;
  /** The kinds that are told; absent until the client has chosen (D41). As stored: a later version may know more kinds. */
  readonly events?: readonly string[] | undefined;
  /** The current secret, and after it the one it replaced: never more. */
  readonly secrets: readonly SealedSecret[];
  /** Grows by one with every write; a write names the version it rests on. */
  readonly version: number;
  readonly disabledReason?: DisabledReason | undefined;
  readonly disabledAtMs?: number | undefined;
  readonly updatedAtMs: number;
}

/** What a PUT asks for. `active` absent: true for a new configuration, else unchanged (D33); so `events`: not chosen (D41). */
export interface ConfigChange {
  readonly clientId: number;
  readonly url: string;
  readonly active?: boolean | undefined;
  readonly events?: readonly string[] | undefined;
  readonly nowMs: number;
}

/** How long a replaced secret goes on signing beside the new one (D34). */
export const rotationOverlapMs = 24 * 3_600_000;

/**
 * The configuration after a PUT. `newSecret` becomes the current secret; the one it replaces signs for another 24
 * hours, an older one is dropped at once: two are valid at most. `active` given is the client's own word, so it takes
 * back what the service noted when it switched off.
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
    ...present({ events }),
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

/**
 * Whether what was noted about failures no longer counts: another address has not failed yet, and deliveries that start
 * again must not be held to what happened before they stopped.
 */
export function startsAfresh(before: WebhookConfig | undefined, after: WebhookConfig): boolean {
  return before !== undefined && after.active && (!before.active || before.url !== after.url);
}

function rotated(before: WebhookConfig | undefined, newSecret: SealedSecret, nowMs: number): readonly SealedSecret[] {
  const current = before?.secrets[0];
  if (current === undefined) return [newSecret];
  return [newSecret, { ...current, validUntilMs: nowMs + rotationOverlapMs }];
}
