import * as v from 'valibot';

/** The format of the message is newer than this code (D47). Log lines show the error's name. */
export class LaterVersion extends Error {
  override readonly name = 'LaterVersion';
}

const VersionedSchema = v.object({ version: v.pipe(v.number(), v.integer(), v.minValue(1)) });

/**
 * Returns the JSON of a queue message up to version `latest`. Throws without a version, and `LaterVersion` for a newer
 * one; the worker reports either as failed, so that it is redelivered (D47).
 */
export function queuedMessage(body: string, latest: number): unknown {
  const message: unknown = JSON.parse(body);
  if (v.parse(VersionedSchema, message).version > latest) throw new LaterVersion();
  return message;
}
