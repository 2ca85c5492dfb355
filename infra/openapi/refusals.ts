import type { RefusalCode } from '../../lib/http/refusal.ts';
import texts from '../../lib/http/refusals.json' with { type: 'json' };

export interface RefusalText {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

export const refusalTexts: Readonly<Record<RefusalCode, RefusalText>> = texts;

const everywhere = ['edge_required', 'internal_error', 'platform_unreachable'] as const;

/** Every route that needs a token has these. */
export const ofCallers = [...everywhere, 'unauthorized', 'too_many_requests'] as const;
export const ofPublicRoutes = everywhere;

/** A route that takes `client_id` has these; a query with an unknown parameter is refused too (D16). */
export const ofClients = ['invalid_request', 'invalid_client_id', 'cross_client_forbidden'] as const;

/** A route that reads a JSON body has these. */
export const ofBodies = ['malformed_body', 'payload_too_large'] as const;

/** A route that calls the platform while the caller waits has these. */
export const ofPlatform = ['platform_refused', 'platform_rate_limited'] as const;
