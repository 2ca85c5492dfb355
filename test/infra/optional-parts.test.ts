import { describe, expect, it } from 'vitest';
import { headers } from '../../infra/openapi/headers.ts';
import { operations } from '../../infra/openapi/operations/all.ts';
import { decodeSync, encodeSync } from '../../lib/templates/sync/sync-message.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* Parts that settings bring, held to what the code knows; the files of templates/ say what they are. */

const service = stacksOf('whole');

describe('CORS (D52)', () => {
  const configuration = service.all('AWS::ApiGatewayV2::Api')[0]?.properties.CorsConfiguration;
  const keys = service.all('AWS::ApiGatewayV2::Route').map(({ properties }) => String(properties.RouteKey));

  it('lets pages call every route, and has none for preflight requests: the gateway answers them', () => {
    const methods = new Set(keys.map((key) => key.split(' ')[0]));
    expect([...methods].toSorted()).toEqual(configuration.AllowMethods.toSorted());
    expect(keys.filter((key) => /^(?:OPTIONS|ANY) /.test(key))).toEqual([]);
  });

  it('names every header that clients send or see by the document, and no other', () => {
    const { AllowHeaders, ExposeHeaders } = configuration;
    const asked = Object.entries(operations).flatMap(([name, operation]) =>
      name.startsWith('platform-') ? [] : Object.keys(operation.headers?.entries ?? {}),
    );
    expect(AllowHeaders.toSorted()).toEqual([...new Set(['Authorization', 'Content-Type', ...asked])].toSorted());
    // Browsers always expose Cache-Control. Pages need none of the others: WWW-Authenticate says nothing new, and the
    // rest belong to redirects and the platform's handshake.
    const hidden = ['Cache-Control', 'Location', 'WWW-Authenticate', 'X-Content-Type-Options'];
    const shown = Object.keys(headers).filter((name) => !hidden.includes(name));
    expect(ExposeHeaders.toSorted()).toEqual(shown.toSorted());
  });
});

it('the API is reached at the public name once its stage is there', () => {
  const { all } = stacksOf('address');
  const [stage] = all('AWS::ApiGatewayV2::Stage');
  expect(all('AWS::ApiGatewayV2::ApiMapping')[0]?.dependsOn).toContain(stage?.id);
});

it('a scheduled synchronization starts by a message as the code reads it (D47)', () => {
  const [schedule] = service.all('AWS::Scheduler::Schedule');
  const { Input } = schedule?.properties.Target ?? {};
  expect(decodeSync(Input)).toMatchObject({ walk: { turn: 0, after: 0 } });
  expect(JSON.parse(Input).version).toBe(JSON.parse(encodeSync(decodeSync(Input))).version);
});
