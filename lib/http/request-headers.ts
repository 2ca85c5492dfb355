import type * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import type { HttpEvent } from './endpoint.ts';
import { nearName } from './near-name.ts';
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

function misspelt(given: object, absent: readonly string[]): Fault[] {
  return Object.keys(given).flatMap((name) => {
    const meant = nearName(name, absent);
    const path = clip(name);
    return meant === undefined ? [] : [{ path, message: `${unrecognizedField}: ${path}; did you mean ${meant}?` }];
  });
}
