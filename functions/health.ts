import { answer } from '../lib/http/answer.ts';

/** Says that the gateway reaches a function, and touches nothing else (D10): no token, no table, no platform. */
export async function handler() {
  return answer(200, { status: 'ok' });
}
