import { describe, expect, it } from 'vitest';
import { headers } from '../../infra/openapi/headers.ts';
import { operations } from '../../infra/openapi/operations/all.ts';
import { synthesize } from '../support/synthesized.ts';

/** CORS as it is deployed (D52). */
const app = 'https://app.example.com';
const configurationOf = (service: ReturnType<typeof synthesize>) =>
  service.all('AWS::ApiGatewayV2::Api')[0]?.properties.CorsConfiguration;

describe('the context value corsOrigins', () => {
  it('lets pages of these origins call every route, and see what answers say in headers', () => {
    const service = synthesize({ corsOrigins: `${app}, http://localhost:5173` });
    expect(configurationOf(service)).toEqual({
      AllowOrigins: [app, 'http://localhost:5173'],
      AllowMethods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      AllowHeaders: ['Authorization', 'Content-Type', 'Dry-Run', 'Idempotency-Key', 'Webhook-Secret-Rotate'],
      ExposeHeaders: [
        'Dispatch-Id',
        'Webhook-Secret',
        'X-Request-Id',
        'Retry-After',
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
      ],
      MaxAge: 600,
    });
    const keys = service.all('AWS::ApiGatewayV2::Route').map(({ properties }) => String(properties.RouteKey));
    const methods = new Set(keys.map((key) => key.split(' ')[0]));
    expect([...methods].toSorted()).toEqual(configurationOf(service).AllowMethods.toSorted());
  });

  it('names every header that clients send or see by the document, and no other', () => {
    const { AllowHeaders, ExposeHeaders } = configurationOf(synthesize({ corsOrigins: app }));
    const asked = Object.entries(operations).flatMap(([name, operation]) =>
      name.startsWith('platform-') ? [] : Object.keys(operation.headers?.entries ?? {}),
    );
    expect(AllowHeaders.toSorted()).toEqual([...new Set(['Authorization', 'Content-Type', ...asked])].toSorted());
    // Browsers show Cache-Control anyway; the others are of the platform's handshake and of redirects.
    const hidden = ['Cache-Control', 'Location', 'X-Content-Type-Options'];
    expect(ExposeHeaders.toSorted()).toEqual(
      Object.keys(headers)
        .filter((name) => !hidden.includes(name))
        .toSorted(),
    );
  });

  it('makes no route of preflight requests: the gateway answers them without asking who calls', () => {
    const keys = synthesize({ corsOrigins: app })
      .all('AWS::ApiGatewayV2::Route')
      .map(({ properties }) => properties.RouteKey);
    expect(keys).toEqual(
      synthesize()
        .all('AWS::ApiGatewayV2::Route')
        .map(({ properties }) => properties.RouteKey),
    );
  });

  it.each([undefined, '*', 'https://app.example.com:8443', 'http://127.0.0.1:3001', 'http://[::1]:3001'])(
    '%s is taken',
    (corsOrigins) => {
      const origins = configurationOf(synthesize(corsOrigins === undefined ? {} : { corsOrigins }))?.AllowOrigins;
      expect(origins).toEqual(corsOrigins === undefined ? undefined : [corsOrigins]);
    },
  );

  it.each([
    '',
    ',',
    `${app},`,
    'app.example.com',
    `${app}/`,
    `${app}/shop`,
    `${app}?a=1`,
    'https://app.example.com:443',
    'https://App.example.com',
    'https://user@app.example.com',
    'https://*.example.com',
    'https://*',
    `${app},*`,
    `${app},${app}`,
    'http://app.example.com',
    'null',
    'file://',
    true,
    [app],
  ])('%j is refused in one sentence', (corsOrigins) => {
    expect(() => synthesize({ corsOrigins })).toThrow(
      /^the context value corsOrigins must be origins without path, apart by commas and none twice, .+, received /,
    );
  });

  it('works behind an edge, which passes preflight requests on with all their headers and adds nothing', () => {
    const certificate = (region: string) => `arn:aws:acm:${region}:123456789012:certificate/0a1b-2c3d`;
    const service = synthesize({
      corsOrigins: app,
      domainName: 'api.example.com',
      certificateArn: certificate('eu-west-1'),
      edge: true,
      edgeCertificateArn: certificate('us-east-1'),
    });
    const [distribution] = service.edge.filter(({ type }) => type === 'AWS::CloudFront::Distribution');
    const behavior = distribution?.properties.DistributionConfig.DefaultCacheBehavior;
    expect(behavior.AllowedMethods).toContain('OPTIONS');
    expect(behavior).not.toHaveProperty('ResponseHeadersPolicyId');
    const [policy] = service.edge.filter(({ type }) => type === 'AWS::CloudFront::OriginRequestPolicy');
    const { HeaderBehavior } = policy?.properties.OriginRequestPolicyConfig.HeadersConfig ?? {};
    expect(HeaderBehavior).toBe('allViewerAndWhitelistCloudFront');
    expect(configurationOf(service).AllowOrigins).toEqual([app]);
  });
});
