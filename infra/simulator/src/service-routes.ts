import * as v from 'valibot';
import { ControlError } from './control-error.ts';
import type { ControlRoute } from './control-route.ts';
import { ServiceFactsSchema } from './known-service.ts';

const TrySchema = v.strictObject({
  method: v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: v.pipe(v.string(), v.regex(/^\/(?!\/)[\x21-\x7e]*$/, 'must be a path')),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  body: v.optional(v.string()),
});
const longestAnswer = 2_000_000;
const answerWithinMs = 30_000;

export const serviceRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/service',
    what: 'where the service answers on this machine, and its demo users',
    run: ({ service: { url, users } }) => ({ url: url ?? null, users }),
  },
  {
    method: 'POST',
    path: '/_control/service',
    what: 'say where the service answers, and what the console shows of it: {url, users?, document?, codes?}; url of this machine, null: nowhere; document: its OpenAPI document; what is left out stays',
    run: ({ service }, { body }) => {
      service.learn(v.parse(ServiceFactsSchema, body));
      return { success: true };
    },
  },
  {
    method: 'POST',
    path: '/_control/service/try',
    changesNothing: true,
    what: 'have the service answer one request: {method, path, headers?, body?}; redirects are not followed',
    run: ({ service }, { body }) => answerOfService(service.url, v.parse(TrySchema, body)),
  },
  {
    method: 'GET',
    path: '/_control/service/codes/{id}',
    what: 'what a code of the service or of the platform means, and what helps, in the words of the service',
    run: ({ service }, _, code) => ({ data: service.explained(code) }),
  },
];

async function answerOfService(base: string | undefined, asked: v.InferOutput<typeof TrySchema>): Promise<unknown> {
  if (base === undefined)
    throw new ControlError(400, 'service', 'is not known: POST /_control/service says where it is');
  const { method, path, headers, body } = asked;
  const beforeMs = performance.now();
  try {
    const reply = await fetch(`${base}${path}`, {
      method,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerWithinMs),
      ...(body === undefined || method === 'GET' ? {} : { body }),
    });
    const text = (await reply.text()).slice(0, longestAnswer);
    const durationMs = Math.round(performance.now() - beforeMs);
    return { status: reply.status, headers: Object.fromEntries(reply.headers), body: text, duration_ms: durationMs };
  } catch (error) {
    throw new ControlError(400, 'service', `does not answer at ${base}: ${String(error)}`);
  }
}
