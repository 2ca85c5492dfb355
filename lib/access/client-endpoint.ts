import type { Context } from 'aws-lambda';
import type { Answer } from '../http/answer.ts';
import type { BodyReader } from '../http/body.ts';
import { type Endpoint, endpoint, type HttpEvent, type Preparation } from '../http/endpoint.ts';
import { type NamedReads, refuseUnknownQuery } from '../http/query-names.ts';
import { Refusal } from '../http/refusal.ts';
import { refuseRehearsal, refuseUnreadTimes } from '../http/request-headers.ts';
import { type Caller, callerOf } from './caller.ts';
import type { BudgetStatus, ClientBudget } from './client-budget.ts';

export type ClientEvent = HttpEvent & { readonly caller: Caller };

/** Without a budget, requests are not counted. */
export interface ClientEndpointPorts {
  readonly nowMs: () => number;
  readonly budget?: ClientBudget | undefined;
}

/** A page reads this of a request: its body, and its parameters other than `client_id`. */
export type PageReads = NamedReads & { readonly body: BodyReader };

/**
 * Frames every page that is not public; its handler gets the caller. Refuses with 401 before any body or port is
 * touched (D2, D5), then with 429 when the budget is used up (D54).
 */
export function clientEndpoint(
  { nowMs, budget }: ClientEndpointPorts,
  reads: BodyReader | PageReads,
  handle: (event: ClientEvent, context: Context) => Promise<Answer>,
): Endpoint {
  const standings = new WeakMap<HttpEvent, BudgetStatus>();
  const who: Preparation = async ({ event }) => {
    const caller = callerOf(event, nowMs());
    Object.assign(event, { caller });
    if (budget === undefined) return;
    const standing = await budget.spend(caller, nowMs());
    standings.set(event, standing);
    if (standing.verdict !== 'allowed') throw tooManyRequests(standing);
  };
  const { body, ...named }: PageReads = typeof reads === 'function' ? { body: reads } : reads;
  /**
   * Refuses with 400 what the page does not read: query parameters (D16), `Dry-Run` (D51), and the headers of a send's
   * time (D56).
   */
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

function tooManyRequests({ verdict, clientLimit, limit, resetSeconds }: BudgetStatus): Refusal {
  const whose =
    verdict === 'client_used_up'
      ? `the client has made its ${clientLimit} requests of this minute`
      : `the user has made ${limit} of the client's ${clientLimit} requests of this minute, all while others are active`;
  const message = `${whose}; try again in ${resetSeconds} s`;
  return new Refusal('too_many_requests', message, { headers: { 'retry-after': String(resetSeconds) } });
}

function rateLimitHeaders({ limit, remaining, resetSeconds }: BudgetStatus): Readonly<Record<string, string>> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(resetSeconds),
  };
}
