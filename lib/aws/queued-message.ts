import * as v from 'valibot';

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
