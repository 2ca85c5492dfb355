import * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import { closestName, didYouMean } from './closest-name.ts';
import type { HttpEvent } from './endpoint.ts';
import { clip, faultOf } from './parse.ts';
import { type Fault, refuseFaults } from './refusal.ts';

type HeaderSchema = v.ObjectSchema<v.ObjectEntries, undefined>;
type Asked = Pick<HttpEvent, 'headers'>;

/**
 * Returns the headers that a page reads. Refuses with 400 bad values, doubled ones, which the gateway joins by commas,
 * and near misspellings of absent ones: the client meant not to send, or not to send twice (D9, D51).
 */
export function parseHeaders<const S extends HeaderSchema>(schema: S, asked: Asked): v.InferOutput<S> {
  const names = Object.keys(schema.entries);
  const given = names.filter((name) => asked.headers[name.toLowerCase()] !== undefined);
  const absent = names.filter((name) => !given.includes(name));
  refuseFaults(misspelt(asked.headers, absent));
  const values = Object.fromEntries(given.map((name) => [name, asked.headers[name.toLowerCase()]]));
  const { issues = [], output } = v.safeParse(schema, values);
  refuseFaults(
    issues.map(faultOf).map(({ path, message }) => {
      const joined = values[path]?.includes(',') ? '; a header that comes twice is joined by a comma' : '';
      return { path, message: `${message}${joined}` };
    }),
  );
  return output as v.InferOutput<S>;
}

const rehearsal = 'Dry-Run';

/**
 * Refuses with 400 `Dry-Run`, or a near misspelling, on pages that do not read it: the rehearsed action would really
 * happen (D51). `false` passes.
 */
export function refuseRehearsal({ headers }: Asked, reads: { readonly headers?: HeaderSchema | undefined }): void {
  if (Object.hasOwn(reads.headers?.entries ?? {}, rehearsal)) return;
  const asking = Object.keys(headers).filter((name) => headers[name] !== 'false' && closestName(name, [rehearsal]));
  const message = `${rehearsal}: this route cannot be rehearsed, only a send can; nothing was done`;
  refuseFaults(asking.map((name) => ({ path: clip(name), message })));
}

/** These headers give a send its time (D56). */
const timed = /^send[-_]/i;

/** Refuses with 400 every `Send-` header that the page does not read: what should wait would happen at once (D56). */
export function refuseUnreadTimes({ headers }: Asked, reads: { readonly headers?: HeaderSchema | undefined }): void {
  const read = Object.keys(reads.headers?.entries ?? {}).filter((name) => timed.test(name));
  const strays = Object.keys(headers).filter(
    (name) => timed.test(name) && !read.some((known) => known.toLowerCase() === name.toLowerCase()),
  );
  refuseFaults(
    strays.map((name) => {
      const path = clip(name);
      if (read.length > 0) return { path, message: `${unrecognizedField}: ${path}${didYouMean(name, read)}` };
      return { path, message: `${path}: this route has no time of its own, only a send has; nothing was done` };
    }),
  );
}

function misspelt(given: object, absent: readonly string[]): Fault[] {
  return Object.keys(given).flatMap((name) => {
    const meant = closestName(name, absent);
    const path = clip(name);
    return meant === undefined ? [] : [{ path, message: `${unrecognizedField}: ${path}; did you mean ${meant}?` }];
  });
}
