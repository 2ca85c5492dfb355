import * as v from 'valibot';
import { answer, noBody, shaped } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';

export const HealthAnswer = v.object({ status: v.literal('ok') });

/** Says that the gateway reaches a function, and touches nothing else (D10): no token, no table, no platform. */
export const handler = publicEndpoint(noBody, async () => answer(200, shaped(HealthAnswer, { status: 'ok' })));
