import { answer, noBody } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';

/** Says that the gateway reaches a function, and touches nothing else (D10): no token, no table, no platform. */
export const handler = publicEndpoint(noBody, async () => answer(200, { status: 'ok' }));
