import { answer } from '../lib/http/answer.ts';
import { endpoint } from '../lib/http/endpoint.ts';

/** Says that the gateway reaches a function, and touches nothing else (D10): no token, no table, no platform. */
export const handler = endpoint(async () => answer(200, { status: 'ok' }));
