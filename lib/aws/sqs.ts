import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';

/** The queue client: an attempt is cut after 5 s, three attempts. Retried sends may double a message, never lose it. */
export function queueClient(config: SQSClientConfig = {}): SQSClient {
  return new SQSClient({
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 5_000, throwOnRequestTimeout: true },
    ...config,
  });
}

/** Largest message and largest batch, in bytes of UTF-8 (SQS). */
export const queueMessageMaxBytes = 1_048_576;

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
