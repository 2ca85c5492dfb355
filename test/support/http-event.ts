import type { Context } from 'aws-lambda';
import { authorizerContext } from '../../lib/access/authorizer-context.ts';
import type { Endpoint, HttpEvent } from '../../lib/http/endpoint.ts';

export interface EventOverrides {
  readonly routeKey?: string;
  readonly body?: string;
  readonly isBase64Encoded?: boolean;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly pathParameters?: Readonly<Record<string, string | undefined>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly token?: Parameters<typeof authorizerContext>[0];
}

/** Makes a payload format 2.0 event as the gateway sends it to an endpoint; without `token`, to a public one. */
export function makeHttpEvent(overrides: EventOverrides = {}): HttpEvent {
  const {
    routeKey = 'GET /test',
    body,
    isBase64Encoded = false,
    headers = {},
    pathParameters,
    query,
    token,
  } = overrides;
  const [method = 'GET', path = '/test'] = routeKey.split(' ');
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: new URLSearchParams(JSON.parse(JSON.stringify(query ?? {}))).toString(),
    headers,
    queryStringParameters: query,
    pathParameters,
    body,
    isBase64Encoded,
    requestContext: {
      accountId: '000000000000',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'test' },
      requestId: 'request-1',
      routeKey,
      stage: '$default',
      time: '01/Jan/2026:00:00:00 +0000',
      timeEpoch: 0,
      ...(token === undefined ? {} : { authorizer: { lambda: authorizerContext(token) } }),
    },
  };
}

/** Calls an endpoint with `remainingMs` left in its Lambda context, and parses a JSON body. */
export async function callEndpoint(endpoint: Endpoint, event: HttpEvent, remainingMs = 29_000) {
  const context = { awsRequestId: 'request-1', getRemainingTimeInMillis: () => remainingMs } as Context;
  const answer = await endpoint(event, context);
  const text = answer.body ?? '';
  return {
    status: answer.statusCode,
    headers: answer.headers ?? {},
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
}
