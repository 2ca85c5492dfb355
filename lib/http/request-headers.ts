import type * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import type { HttpEvent } from './endpoint.ts';
import { nearHint, nearName } from './near-name.ts';
import { clip, parse } from './parse.ts';
import { type Fault, refuseFaults } from './refusal.ts';

type HeaderSchema = v.ObjectSchema<v.ObjectEntries, undefined>;
type Asked = Pick<HttpEvent, 'headers'>;

/**
 * The headers of a request that a page reads, by a schema whose keys are their names as the document spells them. Refuses
 * with 400 a value that is not of the schema, and a header that is nearly one of these while that one is absent, for it asks
 * not to send, or not to send twice (D9, D51).
 */
export function parseHeaders<const S extends HeaderSchema>(schema: S, asked: Asked): v.InferOutput<S> {
  const names = Object.keys(schema.entries);
  const given = names.filter((name) => asked.headers[name.toLowerCase()] !== undefined);
  const absent = names.filter((name) => !given.includes(name));
  refuseFaults(misspelt(asked.headers, absent));
  return parse(schema, Object.fromEntries(given.map((name) => [name, asked.headers[name.toLowerCase()]])));
}

const rehearsal = 'Dry-Run';

/**
 * Refuses with 400 the header `Dry-Run`, or one that is nearly it, where the page does not read it: what must not happen
 * would happen (D51). `false` asks for nothing and passes.
 */
export function refuseRehearsal({ headers }: Asked, reads: { readonly headers?: HeaderSchema | undefined }): void {
  if (Object.hasOwn(reads.headers?.entries ?? {}, rehearsal)) return;
  const asking = Object.keys(headers).filter((name) => headers[name] !== 'false' && nearName(name, [rehearsal]));
  const message = `${rehearsal}: this route cannot be rehearsed, only a send can; nothing was done`;
  refuseFaults(asking.map((name) => ({ path: clip(name), message })));
}

/** Of the headers by which a send has a time of its own (D56). */
const timed = /^send[-_]/i;

/**
 * Refuses with 400 every header that begins with `Send-` and that the page does not read: what is to wait would happen at
 * once (D56). A route that reads none of them says so.
 */
export function refuseUnreadTimes({ headers }: Asked, reads: { readonly headers?: HeaderSchema | undefined }): void {
  const read = Object.keys(reads.headers?.entries ?? {}).filter((name) => timed.test(name));
  const strays = Object.keys(headers).filter(
    (name) => timed.test(name) && !read.some((known) => known.toLowerCase() === name.toLowerCase()),
  );
  refuseFaults(
    strays.map((name) => {
      const path = clip(name);
      if (read.length > 0) return { path, message: `${unrecognizedField}: ${path}${nearHint(name, read)}` };
      return { path, message: `${path}: this route has no time of its own, only a send has; nothing was done` };
    }),
  );
}

function misspelt(given: object, absent: readonly string[]): Fault[] {
  return Object.keys(given).flatMap((name) => {
    const meant = nearName(name, absent);
    const path = clip(name);
    return meant === undefined ? [] : [{ path, message: `${unrecognizedField}: ${path}; did you mean ${meant}?` }];
  });
}
