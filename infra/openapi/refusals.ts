import type { RefusalCode } from '../../lib/http/refusal.ts';
import texts from '../../lib/http/refusals.json' with { type: 'json' };

export interface RefusalText {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

export const refusalTexts: Readonly<Record<RefusalCode, RefusalText>> = texts;

const everywhere = ['edge_required', 'internal_error', 'platform_unreachable'] as const;

/** For every route that needs a token. */
export const ofCallers = [...everywhere, 'unauthorized', 'too_many_requests'] as const;
export const ofAnybody = everywhere;

/** For a route that takes `client_id`; a query with an unknown parameter is refused too (D16). */
export const ofClients = ['invalid_request', 'invalid_client_id', 'cross_client_forbidden'] as const;

/** For a route that reads a JSON body. */
export const ofBodies = ['malformed_body', 'payload_too_large'] as const;

/** For a route that calls the platform while the caller waits. */
export const ofPlatform = ['platform_refused', 'platform_rate_limited'] as const;
