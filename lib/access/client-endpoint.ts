import type { Context } from 'aws-lambda';
import type { Answer } from '../http/answer.ts';
import type { BodyReader } from '../http/body.ts';
import { type Endpoint, endpoint, type HttpEvent, type Preparation } from '../http/endpoint.ts';
import { type NamedReads, refuseUnknownQuery } from '../http/query-names.ts';
import { Refusal } from '../http/refusal.ts';
import { refuseRehearsal, refuseUnreadTimes } from '../http/request-headers.ts';
import { type Caller, callerOf } from './caller.ts';
import type { ClientBudget, Standing } from './client-budget.ts';

/** A request whose caller is known. */
export type ClientEvent = HttpEvent & { readonly caller: Caller };

/** What the frame of a page takes; without a budget nobody counts. */
export interface ClientEndpointPorts {
  readonly nowMs: () => number;
  readonly budget?: ClientBudget | undefined;
}

/** What a page reads of a request: its body, if anything of it, and its parameters, if there are any but `client_id`. */
export type PageReads = NamedReads & { readonly body: BodyReader };

/**
 * The page of every route that is not public. A request that the authorizer did not accept gets 401 before anything else of
 * it is looked at, its body included, and before any port is touched (D2, D5); then 429 if the token's client has used up
 * its minute, or the user the half of it (D54). A query parameter that `reads` does not name is 400 (D16), and so is the
 * wish for a rehearsal where `Dry-Run` is none of its headers (D51), or for a time that it does not read (D56). The page gets the caller with the event.
 */
export function clientEndpoint(
  { nowMs, budget }: ClientEndpointPorts,
  reads: BodyReader | PageReads,
  handle: (event: ClientEvent, context: Context) => Promise<Answer>,
): Endpoint {
  const standings = new WeakMap<HttpEvent, Standing>();
  const who: Preparation = async ({ event }) => {
    const caller = callerOf(event, nowMs());
    Object.assign(event, { caller });
    if (budget === undefined) return;
    const standing = await budget.spend(caller, nowMs());
    standings.set(event, standing);
    if (standing.verdict !== 'allowed') throw tooManyRequests(standing);
  };
  const { body, ...named }: PageReads = typeof reads === 'function' ? { body: reads } : reads;
  const nothingElse: Preparation = async ({ event }) => {
    refuseUnknownQuery(event, named);
    refuseRehearsal(event, named);
    refuseUnreadTimes(event, named);
  };
  const page = endpoint([who, nothingElse, body], handle);
  return async (event, context) => {
    const given = await page(event, context);
    const standing = standings.get(event);
    return standing === undefined ? given : { ...given, headers: { ...given.headers, ...rateLimitHeaders(standing) } };
  };
}

function tooManyRequests({ verdict, clientLimit, limit, resetSeconds }: Standing): Refusal {
  const whose =
    verdict === 'client_used_up'
      ? `the client has made its ${clientLimit} requests of this minute`
      : `the user has made ${limit} of the client's ${clientLimit} requests of this minute, all while others are active`;
  const message = `${whose}; try again in ${resetSeconds} s`;
  return new Refusal('too_many_requests', message, { headers: { 'retry-after': String(resetSeconds) } });
}

function rateLimitHeaders({ limit, remaining, resetSeconds }: Standing): Readonly<Record<string, string>> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  };
}
