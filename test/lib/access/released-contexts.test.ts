import { describe, expect, test } from 'vitest';
import { authorizerContext, unauthorizedContext } from '../../../lib/access/authorizer-context.ts';
import { callerOf } from '../../../lib/access/caller.ts';
import type { HttpEvent } from '../../../lib/http/endpoint.ts';
import { refused } from '../../support/refused.ts';
import * as first from './fixtures/caller-0.1.0.mjs';
import released1 from './fixtures/contexts-0.1.0.json' with { type: 'json' };
import released2 from './fixtures/contexts-0.2.0.json' with { type: 'json' };

/*
 * A new authorizer gets a tenth of the calls first, endpoints are swapped by themselves, and the gateway keeps a context for
 * a minute: what one version's authorizer says is read by another one's endpoints, both ways (D47). The fixtures are what
 * the authorizer of each version says of these tokens. Those of a released version never change; when the format does, that
 * of the version in work does with it, and the tests here say who cannot read it.
 */

const nowMs = 1_700_000_000_000;
const eventWith = (context: Readonly<Record<string, string>>) =>
  ({ requestContext: { authorizer: { lambda: context } } }) as unknown as HttpEvent;
const callerIn = ({ userId, clientId, permissions }: (typeof released2.authorized)[number]['token']) => ({
  userId,
  clientId,
  permissions,
  crossClient: permissions.includes('BSP_CN'),
});

describe.each(released2.authorized)('the context of $token.userId', ({ token, context }) => {
  test('is what this version says', () => {
    expect(authorizerContext(token)).toEqual(context);
  });

  test('as 0.2.0 says it is read by the endpoints of this version, and by those of 0.1.0', () => {
    expect(callerOf(eventWith(context), nowMs)).toEqual(callerIn(token));
    expect(first.callerOf(eventWith(context), nowMs)).toEqual(callerIn(token));
  });

  test('may say more: who does not know a member passes over it', () => {
    expect(callerOf(eventWith({ ...context, later: 'x' }), nowMs)).toEqual(callerIn(token));
  });
});

test.each(released2.unauthorized)('what is said of a bad token is a refusal to all: %j', (context) => {
  expect(unauthorizedContext).toEqual(context);
  expect(refused(() => callerOf(eventWith(context), nowMs)).code).toBe('unauthorized');
  expect(() => first.callerOf(eventWith(context), nowMs)).toThrow('Unauthorized');
});

// The one exception: it had no verdict, and a context without one must not be taken for a yes. Nobody gets in by it; the
// caller repeats its request when the gateway has forgotten it, a minute later (infra/CHANGELOG.md).
test.each(released1.authorized)('as 0.1.0 says it, it is refused: $context', ({ token, context }) => {
  expect(first.authorizerContext(token)).toEqual(context);
  expect(first.callerOf(eventWith(context), nowMs)).toEqual(callerIn(token));
  expect(refused(() => callerOf(eventWith(context), nowMs)).code).toBe('unauthorized');
});
