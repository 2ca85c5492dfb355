import type { Context } from 'aws-lambda';
import { authorizerContext } from '../../lib/access/authorizer-context.ts';
import type { Endpoint, HttpEvent } from '../../lib/http/endpoint.ts';

/** The authorizer would have verified this caller. */
export interface TestCaller {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions?: readonly string[];
}

export interface CallOptions {
  readonly path?: Readonly<Record<string, string | undefined>>;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly isBase64Encoded?: boolean;
}

/** Calls an endpoint as the gateway does, and parses the JSON of its answer. */
export async function call(
  endpoint: Endpoint,
  caller: TestCaller,
  { path, query, body, headers = {}, isBase64Encoded = false }: CallOptions = {},
): Promise<{ status: number | undefined; body: unknown; headers: Readonly<Record<string, unknown>> }> {
  const lambda = authorizerContext({ permissions: [], ...caller, expiresAtSeconds: 9_999_999_999 });
  const event = {
    headers,
    isBase64Encoded,
    requestContext: { requestId: 'request-1', authorizer: { lambda } },
    pathParameters: path,
    queryStringParameters: query,
    body,
  } as unknown as HttpEvent;
  const context = { getRemainingTimeInMillis: () => 29_000 } as Context;
  const answer = await endpoint(event, context);
  return { status: answer.statusCode, body: JSON.parse(answer.body ?? ''), headers: answer.headers ?? {} };
}
