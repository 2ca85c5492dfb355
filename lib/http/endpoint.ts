import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import { correlated } from '../observe/correlation.ts';
import { log } from '../observe/log.ts';
import { count, metered } from '../observe/metrics.ts';
import { type Answer, refusalAnswer } from './answer.ts';
import { edgeGuard } from './edge-guard.ts';
import { Refusal } from './refusal.ts';

/** What API Gateway hands to an endpoint; `body` is what the page's body reader has made of it. */
export interface HttpEvent extends Omit<APIGatewayProxyEventV2, 'body' | 'requestContext'> {
  body?: unknown;
  /** Of the edge's viewer; only where the edge's key was shown (`edgeGuard`). */
  viewerAddress?: string | undefined;
  requestContext: APIGatewayProxyEventV2['requestContext'] & {
    authorizer?: { lambda?: Readonly<Record<string, unknown>> };
  };
}

export type Endpoint = (event: HttpEvent, context: Context) => Promise<Answer>;

/** What is done with a request before its page sees it, in order: who is calling, what the body says. */
export type Preparation = (request: { readonly event: HttpEvent }) => Promise<void>;

/** API functions run 29 s at most; the answer must leave before the gateway gives up at 30 s (R6). */
export const answerEarlyMs = 4_000;

/**
 * Wraps a page behind its preparations; pages are built with `clientEndpoint` or `publicEndpoint`, which choose those.
 * Where the deployment has an edge, nothing is taken that did not come through it.
 *
 * Refusals become answers, anything unexpected becomes a 500 without internals, and an endpoint that runs late answers 502
 * by itself. Every answer says in `x-request-id` under which id its log lines, and those of the work it began, are found.
 */
export function endpoint<E extends HttpEvent>(
  preparations: readonly Preparation[],
  handle: (event: E, context: Context) => Promise<Answer>,
): Endpoint {
  // Not handed through by thirty pages: it is the deployment's, and none of them has a say in it.
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
      // The access log names the gateway's caller, which is the edge.
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
  // Only the class of an unexpected error and where it arose: its message may carry what a client sent.
  return cause instanceof Error ? `${cause.name} ${cause.stack?.split('\n')[1]?.trim() ?? ''}` : typeof cause;
}
