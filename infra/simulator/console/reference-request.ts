import { exampleOf, type Operation, type Parameter } from './openapi.ts';
import type { Filled } from './reference-history.ts';
import type { SampleRequest } from './reference-samples.ts';
import type { Session, TriedRequest } from './session.ts';

export function keyOf({ in: where, name }: Parameter): string {
  return `${where} ${name}`;
}

/** The service recognizes a repeated request by this header. */
export const repeatKey = 'header Idempotency-Key';

export function freshKey(): string {
  return `try-${crypto.randomUUID()}`;
}

/** Fills in the document's first example. Optional parameters of other examples stay empty; the repeat key is fresh. */
export function exampleFilled({ parameters = [], requestBody }: Operation): Filled {
  const [content] = Object.values(requestBody?.content ?? {});
  const [name] = Object.keys(content?.examples ?? {});
  const startOf = (each: Parameter) => {
    if (keyOf(each) === repeatKey) return freshKey();
    return exampleOf(each.examples, each.required ? undefined : name);
  };
  return {
    values: Object.fromEntries(parameters.map((each) => [keyOf(each), startOf(each)])),
    body: exampleOf(content?.examples),
  };
}

export function isSigned({ security = [] }: Operation): boolean {
  return security.length > 0;
}

/** Builds the request without a token; empty parameters are left out. */
function unsigned({ method, path, parameters = [], requestBody }: Operation, { values, body }: Filled) {
  const [type = ''] = Object.keys(requestBody?.content ?? {});
  const of = (where: Parameter['in']) =>
    parameters
      .filter((each) => each.in === where && (values[keyOf(each)] ?? '') !== '')
      .map((each): [string, string] => [each.name, values[keyOf(each)] ?? '']);
  const place = of('path').reduce(
    (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(of('query')).toString();
  const hasBody = body.trim() !== '';
  const headers: Readonly<Record<string, string>> = {
    ...Object.fromEntries(of('header')),
    ...(hasBody ? { 'content-type': type } : {}),
  };
  return { method, path: query === '' ? place : `${place}?${query}`, headers, ...(hasBody ? { body } : {}) };
}

export function requestOf(operation: Operation, filled: Filled, who: Session | undefined): TriedRequest {
  const request = unsigned(operation, filled);
  const headers: Record<string, string> = who === undefined ? {} : { authorization: `Bearer ${who.token}` };
  return { ...request, headers: { ...request.headers, ...headers } };
}

export function sampleOf(operation: Operation, filled: Filled, origin: string): SampleRequest {
  const { path, ...request } = unsigned(operation, filled);
  return { ...request, url: `${origin}${path}`, isSigned: isSigned(operation) };
}
