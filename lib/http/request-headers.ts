import type * as v from 'valibot';
import { unrecognizedField } from './closed-object.ts';
import type { HttpEvent } from './endpoint.ts';
import { nearName } from './near-name.ts';
import { clip, parse } from './parse.ts';
import { type Fault, Refusal } from './refusal.ts';

type HeaderSchema = v.ObjectSchema<v.ObjectEntries, undefined>;
type Asked = Pick<HttpEvent, 'headers' | 'queryStringParameters'>;

/**
 * The headers of a request that a page reads, by a schema whose keys are their names as the document spells them. Refuses
 * with 400 a value that is not of the schema, and a header that is nearly one of these while that one is absent, for it asks
 * not to send, or not to send twice (D9, D51); the same name in the query too.
 */
export function parseHeaders<const S extends HeaderSchema>(schema: S, asked: Asked): v.InferOutput<S> {
  const names = Object.keys(schema.entries);
  const given = names.filter((name) => asked.headers[name.toLowerCase()] !== undefined);
  const absent = names.filter((name) => !given.includes(name));
  const errors = [
    ...misspelt(asked.headers, absent, (meant) => `did you mean ${meant}?`),
    ...misspelt(asked.queryStringParameters ?? {}, absent, (meant) => `${meant} is a header`),
  ];
  if (errors[0] !== undefined) throw new Refusal('invalid_request', errors[0].message, { errors });
  return parse(schema, Object.fromEntries(given.map((name) => [name, asked.headers[name.toLowerCase()]])));
}

function misspelt(given: object, absent: readonly string[], hintOf: (meant: string) => string): Fault[] {
  return Object.keys(given).flatMap((name) => {
    const meant = nearName(name, absent);
    const path = clip(name);
    return meant === undefined ? [] : [{ path, message: `${unrecognizedField}: ${path}; ${hintOf(meant)}` }];
  });
}
