import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { resourceName } from '../../infra/names.ts';
import { routes } from '../../infra/routes.ts';
import { stacksOf } from '../support/stack-templates.ts';
import routeCases from './route-cases.json' with { type: 'json' };

const service = stacksOf('whole');
const built = routes.filter((route) => route.operation in functions);
const [stage] = service.all('AWS::ApiGatewayV2::Stage');

describe('routes', () => {
  it('exist for every operation that has a function, and for no other', () => {
    const keys = service.all('AWS::ApiGatewayV2::Route').map(({ properties }) => properties.RouteKey);
    expect(keys.sort()).toEqual(built.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('of redirects are left out, function and all, where no base URL is set (D19)', () => {
    const without = stacksOf('plain');
    const keys = without.all('AWS::ApiGatewayV2::Route').map(({ properties }) => properties.RouteKey);
    expect(keys).not.toContain('GET /r/{code}');
    expect(keys).toContain('GET /health');
    const lambdas = without.all('AWS::Lambda::Function').map(({ properties }) => properties);
    expect(lambdas.map(({ FunctionName }) => FunctionName)).not.toContain(resourceName('test', 'redirect'));
    expect(JSON.stringify(lambdas)).not.toContain('REDIRECT_BASE_URL');
    expect(without.all('AWS::DynamoDB::Table').map(({ properties }) => properties.TableName)).toContain(
      resourceName('test', 'redirects'),
    );
  });

  it.each(built.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s runs its function',
    (key, entry) => {
      const route = service.all('AWS::ApiGatewayV2::Route').find(({ properties }) => properties.RouteKey === key);
      const integrationId = service.target(route?.properties.Target['Fn::Join'][1][1]);
      const integration = service.all('AWS::ApiGatewayV2::Integration').find(({ id }) => id === integrationId);
      expect(integration?.properties.PayloadFormatVersion).toBe('2.0');
      const lambda = service.stateless.find(({ id }) => id === service.called(integration?.properties.IntegrationUri));
      expect(lambda?.properties.FunctionName).toBe(resourceName('test', entry.operation));
    },
  );

  it('have the authorizer, except those that are public by their nature (R3)', () => {
    const [authorizer] = service.all('AWS::ApiGatewayV2::Authorizer');
    const open = service
      .all('AWS::ApiGatewayV2::Route')
      .filter(
        ({ properties }) =>
          properties.AuthorizationType !== 'CUSTOM' || service.target(properties.AuthorizerId) !== authorizer?.id,
      );
    expect(open.map(({ properties }) => properties.RouteKey).sort()).toEqual([
      'GET /health',
      'GET /platform/webhook',
      'GET /r/{code}',
      'POST /login',
      'POST /platform/webhook',
    ]);
  });

  it('include every route that the precedence cases expect', () => {
    const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    expect(known.size).toBe(routes.length);
    for (const [, , expected] of routeCases) if (expected !== null) expect(known).toContain(expected);
  });

  it('reserve the words that would hide a DID or template id of the same spelling (R2, D36)', () => {
    expect(hidingWords()).toEqual(['channel-campaigns', 'channel-campaigns-grouped', 'status', 'sync-from-platform']);
  });
});

describe('authorizer (R35)', () => {
  const authorizers = service.all('AWS::ApiGatewayV2::Authorizer');

  it('answers yes or no for the whole token, kept for a minute', () => {
    expect(authorizers.map(({ properties }) => properties)).toMatchObject([
      {
        AuthorizerType: 'REQUEST',
        AuthorizerPayloadFormatVersion: '2.0',
        EnableSimpleResponses: true,
        AuthorizerResultTtlInSeconds: 60,
        IdentitySource: ['$request.header.Authorization'],
      },
    ]);
  });

  it('has a function that gives up before the gateway does', () => {
    expect(functions['authorizer']?.timeoutSeconds).toBeLessThan(10);
  });
});

describe('stage', () => {
  it('logs these fields and no header, query string or body', () => {
    const format = JSON.parse(stage?.properties.AccessLogSettings.Format);
    expect(Object.values(format).sort()).toEqual([
      '$context.authorizer.clientId',
      '$context.authorizer.error',
      '$context.identity.sourceIp',
      '$context.integrationErrorMessage',
      '$context.integrationStatus',
      '$context.requestId',
      '$context.responseLatency',
      '$context.routeKey',
      '$context.status',
    ]);
    expect(stage?.properties.AccessLogSettings.Format.length).toBeLessThan(3_000);
  });

  it('throttles all clients together, and POST /login separately, once that route exists', () => {
    const { DefaultRouteSettings: all, RouteSettings: each } = stage?.properties ?? {};
    expect(each['POST /login']).toMatchObject({ ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 });
    expect(all).toMatchObject({ ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 });
    const [chosen] = stacksOf('chosen').all('AWS::ApiGatewayV2::Stage');
    expect(chosen?.properties.DefaultRouteSettings).toMatchObject({
      ThrottlingRateLimit: 1_000,
      ThrottlingBurstLimit: 2_000,
    });
    expect(chosen?.properties.RouteSettings['POST /login']).toMatchObject({
      ThrottlingRateLimit: 40,
      ThrottlingBurstLimit: 80,
    });
    const login = service
      .all('AWS::ApiGatewayV2::Route')
      .find(({ properties }) => properties.RouteKey === 'POST /login');
    expect(stage?.dependsOn).toContain(login?.id);
  });

  it("gives what strangers can ask, and the platform's webhook, shares of their own, apart from that of the clients (D38)", () => {
    const { RouteSettings: each } = stage?.properties ?? {};
    expect(each).toEqual({
      'POST /login': expect.anything(),
      'GET /health': { DetailedMetricsEnabled: true, ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
      'GET /r/{code}': { DetailedMetricsEnabled: true, ThrottlingRateLimit: 500, ThrottlingBurstLimit: 1_000 },
      'GET /platform/webhook': { DetailedMetricsEnabled: true, ThrottlingRateLimit: 5, ThrottlingBurstLimit: 10 },
      'POST /platform/webhook': {
        DetailedMetricsEnabled: true,
        ThrottlingRateLimit: 1_000,
        ThrottlingBurstLimit: 2_000,
      },
    });
    const keys = Object.keys(each);
    const ids = service.all('AWS::ApiGatewayV2::Route').filter(({ properties }) => keys.includes(properties.RouteKey));
    expect(stage?.dependsOn).toEqual(expect.arrayContaining(ids.map(({ id }) => id)));
  });

  it('measures each route, POST /login with its own settings too', () => {
    const { DefaultRouteSettings: all, RouteSettings: each } = stage?.properties ?? {};
    expect([all.DetailedMetricsEnabled, each['POST /login'].DetailedMetricsEnabled]).toEqual([true, true]);
  });

  it('deploys by itself, without CORS unless told', () => {
    expect(stage?.properties).toMatchObject({ StageName: '$default', AutoDeploy: true });
    const [api] = stacksOf('plain').all('AWS::ApiGatewayV2::Api');
    expect(api?.properties).not.toHaveProperty('CorsConfiguration');
  });
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
