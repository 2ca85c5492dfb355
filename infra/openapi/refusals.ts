import type { RefusalCode } from '../../lib/http/refusal.ts';
import texts from '../../lib/http/refusals.json' with { type: 'json' };

/** What is said to people of a code: what it is, why it comes, and what to do. */
export interface RefusalText {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

export const refusalTexts: Readonly<Record<RefusalCode, RefusalText>> = texts;

/** Of every route: whatever is asked, these can come. */
const everywhere = ['edge_required', 'internal_error', 'platform_unreachable'] as const;

/** Of every route that needs a token. */
export const ofCallers = [...everywhere, 'unauthorized', 'too_many_requests'] as const;
export const ofAnybody = everywhere;

/** Of a route that takes `client_id`: a query with a parameter that is unknown is refused too (D16). */
export const ofClients = ['invalid_request', 'invalid_client_id', 'cross_client_forbidden'] as const;

/** Of a route that reads a body of JSON. */
export const ofBodies = ['malformed_body', 'payload_too_large'] as const;

/** Of a route that asks the platform while the caller waits. */
export const ofPlatform = ['platform_refused', 'platform_rate_limited'] as const;
