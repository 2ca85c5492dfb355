import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { resourceName } from '../../infra/names.ts';
import { routes } from '../../infra/routes.ts';
import { stacksOf } from '../support/stack-templates.ts';
import routeCases from './route-cases.json' with { type: 'json' };

/* Rules for all routes; templates/plain.txt has the gateway, its authorizer and its stage. */

const service = stacksOf('whole');
const keyOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;
const deployed = service.all('AWS::ApiGatewayV2::Route');

describe('routes', () => {
  it('exist for every operation that has a function, run it, and no other', () => {
    const run = deployed.map(({ properties }) => {
      const id = service.target(properties.Target['Fn::Join'][1][1]);
      const uri = service.stateless.find((each) => each.id === id)?.properties.IntegrationUri;
      const called = service.stateless.find((each) => each.id === service.called(uri));
      return [properties.RouteKey, called?.properties.FunctionName].join();
    });
    const built = routes.filter((route) => route.operation in functions);
    expect(run.toSorted()).toEqual(
      built.map((route) => [keyOf(route), resourceName('test', route.operation)].join()).toSorted(),
    );
  });

  it('of redirects are left out, function and all, where no base URL is set (D19)', () => {
    const { stateless, stateful } = stacksOf('plain');
    expect(JSON.stringify(stateless)).not.toMatch(/GET \/r\/|-redirect"|REDIRECT_BASE_URL/);
    expect(stateful.map(({ properties }) => properties.TableName)).toContain(resourceName('test', 'redirects'));
  });

  it('have the authorizer, except those that are public by their nature (R3)', () => {
    const [authorizer] = service.all('AWS::ApiGatewayV2::Authorizer');
    const open = deployed.filter(
      ({ properties }) =>
        properties.AuthorizationType !== 'CUSTOM' || service.target(properties.AuthorizerId) !== authorizer?.id,
    );
    const platform = ['GET /platform/webhook', 'POST /platform/webhook'];
    expect(open.map(({ properties }) => properties.RouteKey).toSorted()).toEqual(
      ['GET /health', 'GET /r/{code}', 'POST /login', ...platform].toSorted(),
    );
  });

  it('with limits of their own are there before the stage that names them', () => {
    const [stage] = service.all('AWS::ApiGatewayV2::Stage');
    const limited = Object.keys(stage?.properties.RouteSettings);
    expect(limited).toContain('POST /login');
    const ids = deployed.filter(({ properties }) => limited.includes(properties.RouteKey)).map(({ id }) => id);
    expect(stage?.dependsOn).toEqual(expect.arrayContaining(ids));
  });

  it('include every route that the precedence cases expect', () => {
    const known = new Set(routes.map(keyOf));
    expect(known.size).toBe(routes.length);
    for (const [, , expected] of routeCases) if (expected !== null) expect(known).toContain(expected);
  });

  it('reserve the words that would hide a DID or template id of the same spelling (R2, D36)', () => {
    expect(hidingWords()).toEqual(['channel-campaigns', 'channel-campaigns-grouped', 'status', 'sync-from-platform']);
  });
});

it('the authorizer gives up before the gateway does (R35)', () => {
  expect(functions['authorizer']?.timeoutSeconds).toBeLessThan(10);
});

/** Returns literal segments where another route has a parameter after the same beginning. */
function hidingWords(): string[] {
  const patterns = routes.map(({ path }) => path.split('/'));
  const isParameter = (segment: string | undefined) => segment?.startsWith('{') === true;
  const sameBeginning = (one: string[], other: string[], length: number) =>
    one
      .slice(0, length)
      .every((segment, at) => segment === other[at] || isParameter(segment) || isParameter(other[at]));
  const words = patterns.flatMap((pattern) =>
    pattern.filter(
      (segment, at) =>
        !isParameter(segment) && patterns.some((other) => isParameter(other[at]) && sameBeginning(pattern, other, at)),
    ),
  );
  return [...new Set(words)].sort();
}
