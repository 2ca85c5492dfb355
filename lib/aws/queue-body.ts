/** Largest message and largest batch, in bytes of UTF-8 (SQS). */
export const queueMessageMaxBytes = 1_048_576;

/** Longest delay of a message (SQS): what waits longer is looked at, and sent once more, in between. */
export const maxDelaySeconds = 900;

/**
 * JSON text that SQS accepts whatever the strings hold. SQS refuses U+FFFE and U+FFFF, which JSON.stringify leaves as
 * they are (controls and lone surrogates it escapes itself): one such character would fail its message for ever (R22).
 * Surrogate pairs are escaped too: older servers and the emulator refuse everything outside the basic plane.
 */
export function queueBody(value: unknown): string {
  return JSON.stringify(value).replace(/[\ud800-\udfff\ufffe\uffff]/g, escapeCodeUnit);
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}
