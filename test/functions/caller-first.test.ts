import type { Context } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { authorizerContext } from '../../lib/access/authorizer-context.ts';
import type { BudgetStatus, ClientBudget, Spender } from '../../lib/access/client-budget.ts';
import type { Endpoint, HttpEvent } from '../../lib/http/endpoint.ts';
import { makeHttpEvent } from '../support/http-event.ts';

// Every page must check the caller (D2) and count the request (D54). All routes that are not public are tried, future
// ones included.

const nowMs = Date.UTC(2026, 10, 20, 12);
const subject = { userId: 'u-1', clientId: 1001, permissions: [], expiresAtSeconds: nowMs / 1_000 + 60 };
const accepted = authorizerContext(subject);
const notAccepted: readonly (readonly [string, unknown])[] = [
  ['no authorizer', undefined],
  ['no context', { lambda: undefined }],
  ['an empty context', { lambda: {} }],
  ['a refused token', { lambda: { verdict: 'unauthorized' } }],
  ['a refused token with a rest of claims', { lambda: { ...accepted, verdict: 'unauthorized', userId: '' } }],
  ['a malformed context', { lambda: { ...accepted, clientId: '1e3' } }],
  ['an expired token', { lambda: { ...accepted, expiresAtSeconds: String(nowMs / 1_000) } }],
];

type PageFactory = (ports: unknown) => Endpoint;

/** Returns the page of an operation: `templatesList` builds `templates-list`. */
async function pageOf(operation: string): Promise<PageFactory> {
  const page = await import(`../../functions/${operation}.ts`);
  return page[operation.replace(/-./g, ([, letter]) => String(letter).toUpperCase())];
}

/** Returns an object that must not be read; attempts are recorded. */
function untouchable(name: string, touched: string[]): object {
  const refuse = (key?: PropertyKey): never => {
    touched.push(key === undefined ? name : `${name}.${String(key)}`);
    throw new Error('touched');
  };
  return new Proxy(() => undefined, {
    get: (_, key) => refuse(key),
    has: (_, key) => refuse(key),
    apply: () => refuse(),
    ownKeys: () => refuse(),
  });
}

/** Returns ports with a clock and a budget only; every other one is untouchable. */
function portsOf(touched: string[], budget?: ClientBudget): object {
  const known = { nowMs: () => nowMs, budget };
  return new Proxy(known, {
    get: (_, key) => (key in known ? Reflect.get(known, key) : untouchable(String(key), touched)),
  });
}

/** The budget has two requests, and records its calls. */
function smallBudget() {
  const asked: (readonly [number, string, number])[] = [];
  const spend = async ({ clientId, userId }: Spender, atMs: number): Promise<BudgetStatus> => {
    asked.push([clientId, userId, atMs]);
    return { verdict: 'allowed', clientLimit: 2, limit: 2, remaining: 2 - asked.length, resetSeconds: 17 };
  };
  return { asked, spend };
}

/** Returns a request of which only the gateway's own part may be read. */
function requestOf(authorizer: unknown, touched: string[]): HttpEvent {
  const gateway = { requestContext: { requestId: 'request-1', authorizer } };
  const event = untouchable('event', touched);
  return new Proxy(gateway, {
    get: (known, key) => Reflect.get(key in known ? known : event, key),
  }) as unknown as HttpEvent;
}

const context = { getRemainingTimeInMillis: () => 29_000 } as Context;
const usedUp = (verdict: BudgetStatus['verdict']): ClientBudget => ({
  spend: async () => ({ verdict, clientLimit: 4, limit: 2, remaining: 0, resetSeconds: 17 }),
});

const callOf = async (page: Endpoint, event = makeHttpEvent({ token: subject })) => {
  const { statusCode, headers, body } = await page(event, context);
  return { statusCode, headers, body: JSON.parse(body ?? '') };
};
const unauthorized = { statusCode: 401, body: '{"message":"Unauthorized","code":"unauthorized"}' };

describe.each(routes.filter((route) => route.public !== true))('$method $path', ({ operation }) => {
  test.each(notAccepted)('%s is 401, and nothing is looked at', async (_, authorizer) => {
    const touched: string[] = [];
    const page = await pageOf(operation);
    const request = requestOf(authorizer, touched);
    const budget = smallBudget();
    const refused = await page(portsOf(touched, budget))(request, context);
    expect(refused).toMatchObject(unauthorized);
    expect(Object.keys(refused.headers ?? {})).not.toContainEqual(expect.stringMatching(/^x-ratelimit/));
    expect([touched, budget.asked]).toEqual([[], []]);
  });

  test('an accepted caller gets further', async () => {
    const page = await pageOf(operation);
    const { statusCode } = await page(portsOf([]))(makeHttpEvent({ token: subject }), context);
    expect(statusCode).not.toBe(401);
  });

  test('each request of an accepted caller counts for its client and user, and every answer says how it stands', async () => {
    const budget = smallBudget();
    const page = (await pageOf(operation))(portsOf([], budget));
    for (const remaining of ['1', '0']) {
      const { statusCode, headers } = await callOf(page);
      expect(statusCode).not.toBe(429);
      expect(headers).toMatchObject({
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': remaining,
        'x-ratelimit-reset': '17',
      });
      expect(headers).not.toHaveProperty('retry-after');
    }
    expect(budget.asked).toEqual([
      [1001, 'u-1', nowMs],
      [1001, 'u-1', nowMs],
    ]);
  });

  test.each([
    ['client_used_up', /^the client has made its 4 requests of this minute; .*\b17 s$/],
    ['user_used_up', /^the user has made 2 of the client's 4 requests .* others are active; .*\b17 s$/],
  ] as const)('%s: 429 with when to try again, and nothing is looked at', async (verdict, message) => {
    const touched: string[] = [];
    const page = (await pageOf(operation))(portsOf(touched, usedUp(verdict)));
    expect(await callOf(page, requestOf({ lambda: accepted }, touched))).toMatchObject({
      statusCode: 429,
      headers: {
        'retry-after': '17',
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '0',
        'x-ratelimit-reset': '17',
        'x-request-id': 'request-1',
      },
      body: { code: 'too_many_requests', message: expect.stringMatching(message) },
    });
    expect(touched).toEqual([]);
  });
});
