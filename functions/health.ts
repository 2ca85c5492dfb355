import * as v from 'valibot';
import { answer, noBody, shaped } from '../lib/http/page.ts';
import { publicEndpoint } from '../lib/http/public-endpoint.ts';

export const HealthAnswer = v.object({ status: v.literal('ok') });

/** Shows that the gateway reaches a function. It uses no token, table or platform (D10). */
export const handler = publicEndpoint(noBody, async () => answer(200, shaped(HealthAnswer, { status: 'ok' })));
