import { exampleOf, type Operation, type Parameter } from './openapi.ts';
import type { SampleRequest } from './reference-samples.ts';
import type { Filled } from './reference-tried.ts';
import type { Session, TriedRequest } from './session.ts';

export function keyOf({ in: where, name }: Parameter): string {
  return `${where} ${name}`;
}

/** The form as it stands at first: with the examples of the document. */
export function exampleFilled({ parameters = [], requestBody }: Operation): Filled {
  const [content] = Object.values(requestBody?.content ?? {});
  return {
    values: Object.fromEntries(parameters.map((each) => [keyOf(each), exampleOf(each.examples)])),
    body: exampleOf(content?.examples),
  };
}

export function isSigned({ security = [] }: Operation): boolean {
  return security.length > 0;
}

/** The route's request with these values, without a token. What is left empty is left out. */
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
  const headers = who === undefined ? {} : { authorization: `Bearer ${who.token}` };
  return { ...request, headers: { ...request.headers, ...headers } };
}

export function sampleOf(operation: Operation, filled: Filled, origin: string): SampleRequest {
  const { path, ...request } = unsigned(operation, filled);
  return { ...request, url: `${origin}${path}`, isSigned: isSigned(operation) };
}
