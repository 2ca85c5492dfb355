import type { Context } from 'aws-lambda';
import type { Answer } from '../http/answer.ts';
import type { BodyReader } from '../http/body.ts';
import { type Endpoint, endpoint, type HttpEvent, type Preparation } from '../http/endpoint.ts';
import { type Caller, callerOf } from './caller.ts';

/** A request whose caller is known. */
export type ClientEvent = HttpEvent & { readonly caller: Caller };

/**
 * The page of every route that is not public. Whoever the authorizer did not accept gets 401 before anything else of the
 * request is looked at, its body included, and before any port is touched (D2, D5); the page gets the caller with the
 * event. `body` says what the page reads of a body, if anything.
 */
export function clientEndpoint(
  { nowMs }: { readonly nowMs: () => number },
  body: BodyReader,
  handle: (event: ClientEvent, context: Context) => Promise<Answer>,
): Endpoint {
  const who: Preparation = async ({ event }) => {
    Object.assign(event, { caller: callerOf(event, nowMs()) });
  };
  return endpoint([who, body], handle);
}
