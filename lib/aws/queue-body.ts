import * as v from 'valibot';

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

/** A message of a format that comes after the latest this code knows (D47). Log lines tell it by its name. */
export class LaterVersion extends Error {
  override readonly name = 'LaterVersion';
}

const versionOf = v.pipe(
  v.object({ version: v.optional(v.number(), 1) }),
  v.transform(({ version }) => version),
);

/**
 * The JSON of a queue message of version `latest` or an earlier one; without a number it is of version 1. Throws
 * `LaterVersion` for one that only later code knows: it is to be reported failed, so that it comes again (D47).
 */
export function queuedMessage(body: string, latest: number): unknown {
  const message: unknown = JSON.parse(body);
  if (v.parse(versionOf, message) > latest) throw new LaterVersion();
  return message;
}
