import * as v from 'valibot';

/** A message of a format that comes after the latest this code knows (D47). Log lines tell it by its name. */
export class LaterVersion extends Error {
  override readonly name = 'LaterVersion';
}

const VersionedSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/**
 * The JSON of a queue message of version `latest` or an earlier one. Throws when it states no version, and `LaterVersion`
 * for one that only later code knows: either is to be reported failed, so that it comes again (D47).
 */
export function queuedMessage(body: string, latest: number): unknown {
  const message: unknown = JSON.parse(body);
  if (v.parse(VersionedSchema, message).version > latest) throw new LaterVersion();
  return message;
}
