/** SQS's limit of a message and of a batch, in bytes of UTF-8. */
export const queueMessageMaxBytes = 1_048_576;

/** SQS's longest delay. A longer wait takes several messages. */
export const maxDelaySeconds = 900;

/**
 * JSON text that SQS accepts: U+FFFE and U+FFFF would fail a message for ever (R22). Surrogate pairs are escaped for
 * the emulator and older servers.
 */
export function queueBody(value: unknown): string {
  return JSON.stringify(value).replace(/[\ud800-\udfff\ufffe\uffff]/g, escapeCodeUnit);
}

function escapeCodeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}
