import type { APIGatewayProxyEventV2, APIGatewayRequestAuthorizerEventV2 } from 'aws-lambda';

export interface IncomingRequest {
  readonly method: string;
  /** The path is still percent-encoded. */
  readonly rawPath: string;
  /** The query is without `?`. */
  readonly rawQueryString: string;
  /** An example is `HTTP/1.1`. */
  readonly protocol: string;
  /** Names and values alternate in the order of arrival, with duplicates. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
  readonly sourceIp: string;
}

export interface EventFacts {
  readonly routeKey: string;
  readonly pathParameters: Readonly<Record<string, string>>;
  readonly requestId: string;
  readonly nowMs: number;
  readonly stageVariables?: Readonly<Record<string, string>> | undefined;
}

/** API Gateway limits the request line and header values together. */
export const maxHeadBytes = 10_240;

export function headBytes(request: IncomingRequest): number {
  const query = request.rawQueryString === '' ? '' : `?${request.rawQueryString}`;
  let bytes = Buffer.byteLength(`${request.method} ${request.rawPath}${query} ${request.protocol}`);
  for (const [, value] of headerPairs(request)) bytes += Buffer.byteLength(value);
  return bytes;
}

/**
 * Returns the event of an HTTP API in payload format 2.0. Real APIs decode `rawPath` but not `rawQueryString`. Repeated
 * headers and parameters are joined with commas; cookies have their own array; empty parts are absent.
 */
export function httpEvent(request: IncomingRequest, facts: EventFacts): APIGatewayProxyEventV2 {
  const headers = headersOf(request);
  const cookies = cookiesOf(request);
  const query = joined(new URLSearchParams(request.rawQueryString));
  const path = decodeURIComponent(request.rawPath);
  const domainName = headers['host'] ?? '';
  return {
    version: '2.0',
    routeKey: facts.routeKey,
    rawPath: path,
    rawQueryString: request.rawQueryString,
    ...(cookies.length === 0 ? {} : { cookies }),
    headers,
    ...(Object.keys(query).length === 0 ? {} : { queryStringParameters: query }),
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName,
      domainPrefix: domainName.split('.')[0] ?? '',
      http: {
        method: request.method,
        path,
        protocol: request.protocol,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: facts.requestId,
      routeKey: facts.routeKey,
      stage: '$default',
      time: accessLogTime(facts.nowMs),
      timeEpoch: facts.nowMs,
    },
    ...(Object.keys(facts.pathParameters).length === 0 ? {} : { pathParameters: { ...facts.pathParameters } }),
    stageVariables: facts.stageVariables && { ...facts.stageVariables },
    ...bodyOf(request.body, headers['content-type']),
  };
}

export function withAuthorizerContext(
  event: APIGatewayProxyEventV2,
  context: Readonly<Record<string, unknown>> | null,
): APIGatewayProxyEventV2 {
  return { ...event, requestContext: { ...event.requestContext, authorizer: { lambda: context } } } as never;
}

export function authorizerEvent(
  event: APIGatewayProxyEventV2,
  identity: readonly string[],
  region: string,
): APIGatewayRequestAuthorizerEventV2 {
  const { body: _body, isBase64Encoded: _encoded, cookies = [], ...request } = event;
  const { accountId, apiId, stage, http } = event.requestContext;
  return {
    ...request,
    type: 'REQUEST',
    cookies,
    routeArn: `arn:aws:execute-api:${region}:${accountId}:${apiId}/${stage}/${http.method}${event.rawPath}`,
    identitySource: [...identity],
  };
}

const textTypes = new Set(['application/json', 'application/javascript', 'application/xml']);

/** Text types are passed as text; every other body, also without a type, is base64. */
export function isTextType(contentType: string | undefined): boolean {
  const type = (contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
  return type.startsWith('text/') || textTypes.has(type);
}

function bodyOf(
  body: Buffer,
  contentType: string | undefined,
): Pick<APIGatewayProxyEventV2, 'body' | 'isBase64Encoded'> {
  if (body.byteLength === 0) return { isBase64Encoded: false };
  return isTextType(contentType)
    ? { body: body.toString('utf8'), isBase64Encoded: false }
    : { body: body.toString('base64'), isBase64Encoded: true };
}

function* headerPairs(request: IncomingRequest): Generator<readonly [name: string, value: string]> {
  for (let index = 0; index + 1 < request.rawHeaders.length; index += 2) {
    yield [(request.rawHeaders[index] ?? '').toLowerCase(), request.rawHeaders[index + 1] ?? ''];
  }
}

/** Headers about the connection itself end at the gateway. */
const connectionHeaders = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'cookie']);

function headersOf(request: IncomingRequest): Record<string, string> {
  const pairs = [...headerPairs(request)].filter(([name]) => !connectionHeaders.has(name));
  const headers = joined(pairs);
  headers['content-length'] = String(request.body.byteLength);
  headers['x-forwarded-for'] = [headers['x-forwarded-for'], request.sourceIp].filter(Boolean).join(', ');
  return headers;
}

function cookiesOf(request: IncomingRequest): string[] {
  const cookies: string[] = [];
  for (const [name, value] of headerPairs(request)) {
    if (name === 'cookie') cookies.push(...value.split(';').map((cookie) => cookie.trim()));
  }
  return cookies.filter((cookie) => cookie !== '');
}

/** Joins the values of a repeated name with commas. The map keeps names such as `constructor` safe. */
function joined(pairs: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    values.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(values);
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The form is `12/Mar/2020:19:03:58 +0000`. */
function accessLogTime(nowMs: number): string {
  const date = new Date(nowMs);
  const [, clock] = date.toISOString().split(/[T.]/);
  const day = String(date.getUTCDate()).padStart(2, '0');
  return `${day}/${months[date.getUTCMonth()]}/${date.getUTCFullYear()}:${clock} +0000`;
}
