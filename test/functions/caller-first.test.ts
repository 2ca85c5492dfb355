import type { Context } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { routes } from '../../infra/routes.ts';
import { authorizerContext } from '../../lib/access/caller.ts';
import type { Endpoint, HttpEvent } from '../../lib/http/endpoint.ts';
import { makeHttpEvent } from '../support/http-event.ts';

// A page cannot forget to ask who is calling (D2): every route that is not public is tried, the ones to come included.

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

/** The page of an operation: `templates-list` is built by `templatesList`. */
async function pageOf(operation: string): Promise<PageFactory> {
  const page = await import(`../../functions/${operation}.ts`);
  return page[operation.replace(/-./g, ([, letter]) => String(letter).toUpperCase())];
}

/** Something that must not be looked at; what was tried anyway is noted. */
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

/** A clock and nothing else that may be used. */
function portsOf(touched: string[]): object {
  return new Proxy(
    { nowMs: () => nowMs },
    { get: (clock, key) => (key === 'nowMs' ? clock.nowMs : untouchable(String(key), touched)) },
  );
}

/** A request of which only the gateway's own part may be looked at. */
function requestOf(authorizer: unknown, touched: string[]): HttpEvent {
  const gateway = { requestContext: { requestId: 'request-1', authorizer } };
  const event = untouchable('event', touched);
  return new Proxy(gateway, {
    get: (known, key) => Reflect.get(key in known ? known : event, key),
  }) as unknown as HttpEvent;
}

const context = { getRemainingTimeInMillis: () => 29_000 } as Context;
const unauthorized = { statusCode: 401, body: '{"message":"Unauthorized","code":"unauthorized"}' };

describe.each(routes.filter((route) => route.public !== true))('$method $path', ({ operation }) => {
  test.each(notAccepted)('%s is 401, and nothing is looked at', async (_, authorizer) => {
    const touched: string[] = [];
    const page = await pageOf(operation);
    const request = requestOf(authorizer, touched);
    expect(await page(portsOf(touched))(request, context)).toMatchObject(unauthorized);
    expect(touched).toEqual([]);
  });

  test('an accepted caller gets further', async () => {
    const page = await pageOf(operation);
    const { statusCode } = await page(portsOf([]))(makeHttpEvent({ token: subject }), context);
    expect(statusCode).not.toBe(401);
  });
});
