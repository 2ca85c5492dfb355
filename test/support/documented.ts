import { createRouter } from '../../infra/local/router.ts';
import { documentedParameter } from '../../infra/openapi/paths.ts';
import { routes } from '../../infra/routes.ts';
import { noteAnswer } from './answers-seen.ts';
import { type Content, escaped, type Operation, openApi, operationOf, pointerTo, schemaFaults } from './openapi.ts';

/** The exchange with the API is as on the wire. */
export interface Exchange {
  readonly method: string;
  /** The path has its query. */
  readonly path: string;
  readonly requestHeaders: Headers;
  readonly requestBody: string | Uint8Array | undefined;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const routeOf = createRouter(routes);

/** Every answer may have these headers of HTTP, of AWS and for browsers of other origins (D52). */
const ofTransport =
  /^(?:access-control-.*|connection|keep-alive|date|content-(?:type|length)|transfer-encoding|apigw-requestid|via|vary|age|server|alt-svc|x-cache|x-amz-cf-.*)$/;

/**
 * Throws unless the exchange matches the document (D48): a known route, and a documented status, headers and body. An
 * accepted request must match in path, query, headers and body too.
 */
export async function expectDocumented(exchange: Exchange): Promise<void> {
  // The gateway itself answers a preflight request, which has no route (D52).
  if (exchange.method === 'OPTIONS') return;
  const { method, path, status } = exchange;
  const match = matchOf(method, rawPathOf(exchange));
  if (match !== undefined) noteAnswer(operationOf(match.route).operation.operationId, status, codeOf(exchange));
  const faults = await documentFaults(exchange);
  if (faults.length === 0) return;
  const said = exchange.text.slice(0, 600);
  throw new Error(`${method} ${path} was answered ${status}, not as functions/openapi.json says:
${faults.slice(0, 12).join('\n')}
${said}
If the answer is right, change the page's schema or its entry in infra/openapi/operations/, and run npm run openapi.`);
}

/** Returns the differences between an exchange and the document. */
export async function documentFaults(exchange: Exchange): Promise<string[]> {
  const [, ...query] = exchange.path.split('?');
  const match = matchOf(exchange.method, rawPathOf(exchange));
  if (match === undefined) return ofNoRoute(exchange);
  const { operation, pointer } = operationOf(match.route);
  const answered = answerFaults(exchange, operation, pointer);
  if (exchange.status >= 400) return answered;
  const asked = {
    path: Object.fromEntries(
      Object.entries(match.pathParameters).map(([name, value]) => [documentedParameter(match.route.path, name), value]),
    ),
    query: joined(new URLSearchParams(query.join('?'))),
  };
  return [
    ...answered,
    ...parameterFaults(exchange, operation, { pointer, asked }),
    ...(await bodyFaults(exchange, operation, pointer)),
  ];
}

function codeOf({ status, text }: Pick<Exchange, 'status' | 'text'>): unknown {
  return status < 400 ? undefined : (json(text) as { readonly code?: unknown } | undefined)?.code;
}

function rawPathOf({ path }: Exchange): string {
  return path.split('?')[0] ?? '/';
}

function matchOf(method: string, rawPath: string) {
  try {
    return routeOf(method, rawPath);
  } catch {
    return undefined; // The gateway answers malformed percent-encoding with a 400.
  }
}

function ofNoRoute({ method, status, text }: Exchange): string[] {
  if (![400, 404, 405, 431].includes(status)) return [`no route is documented that answers ${status}`];
  return method === 'HEAD' ? [] : schemaFaults('answers', '#/components/schemas/GatewayError', json(text), 'body');
}

function answerFaults({ status, headers, text }: Exchange, operation: Operation, at: string): string[] {
  if (operation.responses[status] === undefined) {
    const code = codeOf({ status, text });
    return [`${operation.operationId}: the status ${status} (code ${code}) is not documented`];
  }
  const { response, pointer } = resolved(operation.responses[status], `${at}/responses/${status}`);
  const faults = headerFaults(headers, response.headers ?? {}, { isOwn: status < 400 || headers.has('x-request-id') });
  if (response.content === undefined) return text === '' ? faults : [...faults, 'the answer has a body'];
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  if (type === 'text/csv' && response['x-text-csv'] !== undefined) return faults;
  if (response.content[type] === undefined) return [...faults, `the content type ${type} is not documented`];
  const body = type === 'application/json' ? json(text) : text;
  // The gateway's own refusals have no code; a function without a code would look like one.
  if (status >= 400 && headers.has('x-request-id') && codeOf({ status, text }) === undefined) {
    faults.push('a refusal without a code');
  }
  const code = codeOf({ status, text });
  if (code !== undefined && !response['x-codes']?.includes(code)) faults.push(`the code ${code} is not documented`);
  return [...faults, ...schemaFaults('answers', `${pointer}/content/${escaped(type)}/schema`, body, 'body')];
}

interface Response {
  readonly headers?: Readonly<Record<string, object>>;
  readonly content?: Content;
  readonly 'x-codes'?: readonly unknown[];
  readonly 'x-text-csv'?: string;
}

/** Returns a response of the document with its pointer, which may lead to the components. */
function resolved(response: object, pointer: string): { readonly response: Response; readonly pointer: string } {
  if (!('$ref' in response)) return { response, pointer };
  const name = String(response.$ref).split('/').at(-1) ?? '';
  return { response: openApi.components.responses[name], pointer: String(response.$ref) };
}

/** Returns the faults of headers; the gateway's own answers, all of them refusals, have none of ours. */
function headerFaults(
  headers: Headers,
  documented: Readonly<Record<string, object>>,
  { isOwn }: { readonly isOwn: boolean },
): string[] {
  const names = Object.keys(documented);
  const known = new Set(names.map((name) => name.toLowerCase()));
  const strays = [...headers.keys()].filter((name) => !known.has(name) && !ofTransport.test(name));
  return [
    ...strays.map((name) => `the header ${name} is not documented`),
    ...names.flatMap((name) => {
      const header = openApi.components.headers[name];
      const value = headers.get(name);
      if (value === null) return header.required && isOwn ? [`the header ${name} is missing`] : [];
      const text = { pointer: `#/components/headers/${name}/schema`, schema: header.schema, value };
      return valueFaults('answers', text, `header ${name}`);
    }),
  ];
}

function parameterFaults(
  { requestHeaders }: Exchange,
  { operationId, parameters = [] }: Operation,
  {
    pointer,
    asked,
  }: {
    readonly pointer: string;
    readonly asked: Readonly<Record<'path' | 'query', Readonly<Record<string, string>>>>;
  },
): string[] {
  return parameters.flatMap(({ name, in: place, required, schema }, at) => {
    const value = (place === 'header' ? requestHeaders.get(name) : asked[place][name]) ?? '';
    // An empty filter counts as absent.
    if (value === '') return required ? [`${operationId}: ${place} ${name} is missing and was accepted`] : [];
    return valueFaults(
      'requests',
      { pointer: `${pointer}/parameters/${at}/schema`, schema, value },
      `${place} ${name}`,
    );
  });
}

/** Returns the faults of a value that came as text, parsed by the type in its schema. */
function valueFaults(
  kind: 'answers' | 'requests',
  {
    pointer,
    schema,
    value,
  }: { readonly pointer: string; readonly schema: Readonly<Record<string, unknown>>; readonly value: string },
  what: string,
): string[] {
  return schemaFaults(kind, pointer, parsed(schema['type'], value), what);
}

function parsed(type: unknown, value: string): unknown {
  if (type === 'array') {
    return value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '');
  }
  if (type === 'integer' || type === 'number') return Number(value);
  if (type === 'boolean') return value === 'true' ? true : value === 'false' ? false : value;
  return value;
}

async function bodyFaults(exchange: Exchange, { operationId, requestBody }: Operation, at: string): Promise<string[]> {
  if (requestBody === undefined) return [];
  const { requestBody: sent, requestHeaders } = exchange;
  if (sent === undefined || sent.length === 0) {
    return requestBody.required ? [`${operationId}: no body was sent and it was accepted`] : [];
  }
  const type = requestHeaders.get('content-type') ?? '';
  const pointer = `${at}/requestBody/content/${escaped('application/json')}/schema`;
  if (!/^\s*multipart\/form-data/i.test(type)) {
    return schemaFaults('requests', pointer, json(Buffer.from(sent).toString('utf8')), 'request body');
  }
  const form = requestBody.content['multipart/form-data'];
  if (form === undefined)
    return schemaFaults('requests', pointer, json(Buffer.from(sent).toString('utf8')), 'request body');
  const template = await templatePart(sent, type);
  return template === undefined ? [] : schemaFaults('requests', pointer, json(template), 'part template');
}

/** Returns the JSON of a form; undefined for a form that only the service's own parser can read. */
async function templatePart(sent: string | Uint8Array, type: string): Promise<string | undefined> {
  try {
    const form = await new Response(Buffer.from(sent), { headers: { 'content-type': type } }).formData();
    const part = form.get('template');
    return part === null || typeof part === 'string' ? (part ?? undefined) : await part.text();
  } catch {
    return undefined;
  }
}

/** Returns the differences between a delivery's body and the document's schema for its kind of event. */
export function eventFaults(body: string): string[] {
  const { type } = JSON.parse(body);
  if (openApi.webhooks[type] === undefined) return [`the event ${type} is not documented`];
  const at = pointerTo('webhooks', type, 'post', 'requestBody', 'content', 'application/json', 'schema');
  return schemaFaults('answers', at, JSON.parse(body), type);
}

/** Repeated parameters arrive joined by commas. */
function joined(query: URLSearchParams): Record<string, string> {
  return Object.fromEntries([...new Set(query.keys())].map((name) => [name, query.getAll(name).join(',')]));
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
