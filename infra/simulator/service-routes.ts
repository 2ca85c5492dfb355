import { existsSync, readFileSync } from 'node:fs';
import * as v from 'valibot';
import { explained } from '../operate/see/explanations.ts';
import { ControlError } from './control-error.ts';
import type { ControlRoute } from './control-route.ts';

const loopback = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/;

const ServiceSchema = v.strictObject({
  url: v.nullable(v.pipe(v.string(), v.regex(loopback, 'must be an address of this machine: http://127.0.0.1:PORT'))),
});
const TrySchema = v.strictObject({
  method: v.picklist(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  path: v.pipe(v.string(), v.regex(/^\/(?!\/)[\x21-\x7e]*$/, 'must be a path')),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  body: v.optional(v.string()),
});
const UserSchema = v.object({
  username: v.string(),
  password: v.string(),
  client_id: v.number(),
  permissions: v.array(v.string()),
  campaign_ids: v.array(v.number()),
});
const UsersSchema = v.object({ users: v.array(UserSchema) });

const longestAnswer = 2_000_000;
const answerWithinMs = 30_000;

export const serviceRoutes: readonly ControlRoute[] = [
  {
    method: 'GET',
    path: '/_control/service',
    what: 'where the service answers on this machine, and its demo users',
    run: ({ service }) => ({ url: service.url ?? null, users: demoUsers() }),
  },
  {
    method: 'POST',
    path: '/_control/service',
    what: 'say where the service answers: {url}, of this machine; null: nowhere',
    run: ({ service }, { body }) => {
      service.url = v.parse(ServiceSchema, body).url ?? undefined;
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
    what: 'what a code of the service or of the platform means, and what helps: the words of infra/ops explain',
    run: (_, __, code) => ({ data: explained(code) }),
  },
];

function demoUsers(): v.InferOutput<typeof UsersSchema>['users'] {
  const file = new URL('../local/demo/provisioning.json', import.meta.url);
  return v.parse(UsersSchema, JSON.parse(readFileSync(file, 'utf8'))).users;
}

async function answerOfService(base: string | undefined, asked: v.InferOutput<typeof TrySchema>): Promise<unknown> {
  if (base === undefined) throw new ControlError(400, 'service', 'is not known: npm start says where it is');
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

/** Returns the OpenAPI document of the service; `null` when the file is missing. */
export function openApiDocument(): Buffer | string {
  const file = new URL('../../functions/openapi.json', import.meta.url);
  return existsSync(file) ? readFileSync(file) : 'null';
}
