/** SQS limits a message and a batch to this many bytes of UTF-8. */
export const queueMessageMaxBytes = 1_048_576;

/** SQS delays no longer. A longer wait takes several messages. */
export const maxDelaySeconds = 900;

/**
 * Returns JSON text that SQS accepts: U+FFFE and U+FFFF would fail a message for ever (R22). Surrogate pairs are
 * escaped for the emulator and older servers.
 */
export function queueBody(value: unknown): string {
  return JSON.stringify(value).replace(/[\ud800-\udfff\ufffe\uffff]/g, escapeCodeUnit);
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}
