import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { correlated } from '../observe/correlation.ts';
import { log } from '../observe/log.ts';
import { count, metered } from '../observe/metrics.ts';
import { type Answer, refusalAnswer } from './answer.ts';
import { edgeGuard } from './edge-guard.ts';
import { Refusal } from './refusal.ts';

/** API Gateway sends it; `body` is the body reader's result. */
export interface HttpEvent extends Omit<APIGatewayProxyEventV2, 'body' | 'requestContext'> {
  body?: unknown;
  /** The address is set only after the edge has shown its key (`edgeGuard`). */
  viewerAddress?: string | undefined;
  requestContext: APIGatewayProxyEventV2['requestContext'] & {
    authorizer?: { lambda?: Readonly<Record<string, unknown>> };
  };
}

export type Endpoint = (event: HttpEvent, context: Context) => Promise<Answer>;

/** Steps before the page run in order: the caller, then the body. */
export type Preparation = (request: { readonly event: HttpEvent }) => Promise<void>;

/** API functions run 29 s at most; the answer must leave before the gateway gives up at 30 s (R6). */
export const answerEarlyMs = 4_000;

/**
 * Wraps a page behind its preparations (`clientEndpoint`, `publicEndpoint`). Refusals become answers, other errors a
 * 500 without internals, and a late page a 502. `x-request-id` finds the log lines.
 */
export function endpoint<E extends HttpEvent>(
  preparations: readonly Preparation[],
  handle: (event: E, context: Context) => Promise<Answer>,
): Endpoint {
  // The environment decides for the whole deployment, so that thirty pages need not pass it on.
  const hasEdge = process.env['BEHIND_EDGE'] === 'true';
  const wrapped = middy<HttpEvent, Answer>({
    timeoutEarlyInMillis: answerEarlyMs,
    timeoutEarlyResponse: () => {
      throw new Refusal('platform_unreachable', 'the request could not be finished in time');
    },
  }).use(answerRefusals({ hasEdge }));
  for (const preparation of [edgeGuard({ hasEdge }), ...preparations]) wrapped.before(preparation);
  const handler = wrapped.handler(handle as Endpoint) as unknown as Endpoint;
  return async (event, context) => {
    const { requestId } = event.requestContext;
    const given = await metered(() => correlated(requestId, () => handler(event, context)));
    return { ...given, headers: { ...given.headers, 'x-request-id': requestId } };
  };
}

function answerRefusals({ hasEdge }: { readonly hasEdge: boolean }): middy.MiddlewareObj<HttpEvent, Answer> {
  return {
    onError: (request) => {
      const error = request.error;
      const refusal =
        error instanceof Refusal ? error : new Refusal('internal_error', 'internal error', { cause: error });
      if (refusal.isOfPlatform) count('RequestsFailedByPlatform');
      if (refusal.status >= 500) {
        log('request.failed', {
          route: request.event.routeKey,
          code: refusal.code,
          error: describeCause(refusal),
        });
      }
      // The access log shows the edge's address, not the viewer's.
      if (hasEdge && refusal.status === 401) {
        const { routeKey, viewerAddress } = request.event;
        log('request.unauthorized', { route: routeKey, viewerAddress });
      }
      request.response = refusalAnswer(refusal);
    },
  };
}

function describeCause(refusal: Refusal): string {
  const cause = refusal.cause;
  if (cause === undefined) return refusal.message;
  // The log gets only class and place of an unexpected error: its message may carry client data.
  return cause instanceof Error ? `${cause.name} ${cause.stack?.split('\n')[1]?.trim() ?? ''}` : typeof cause;
}
