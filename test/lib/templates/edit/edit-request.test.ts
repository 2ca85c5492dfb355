import { expect, test } from 'vitest';
import { parseEditRequest } from '../../../../lib/templates/edit/edit-request.ts';
import { refused } from '../../../support/refused.ts';

const components = [{ type: 'BODY', text: 'Order {{1}} is on its way.', example: { body_text: [['7']] } }];
const parsed = (body: unknown, redirectsOffered = false) => parseEditRequest(body, { redirectsOffered });

test('everything that may be said; name and language count for nothing', () => {
  const said = { name: 'another', language: 'es', category: 'utility', components, client_id: 1001 };
  const spec = { bid_amount: 100, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
  const beside = { optimization_spec: spec, message_send_ttl_seconds: 60 };
  const ofCode = { code_expiration_minutes: 5, add_security_recommendation: true };
  expect(parsed({ ...said, ...beside, ...ofCode, allow_button_url_change: true }, true)).toEqual({
    clientId: 1001,
    category: 'UTILITY',
    components,
    urlChange: true,
    optimizationSpec: spec,
    timeToLiveSeconds: 60,
    codeExpirationMinutes: 5,
    addSecurityRecommendation: true,
  });
});

const ofCreation = (field: string) => `${field} can be given only when a template is created`;

test.each<[string, unknown, string, string]>([
  ['no components', {}, 'components', 'components is required'],
  ['components that are none', { components: {} }, 'components', 'components is invalid: expected a list, received {}'],
  [
    'the bid alone',
    { optimization_spec: { bid_amount: 90 } },
    'components',
    'components is required, also when only optimization_spec changes: send the components as listed',
  ],
  [
    'an unknown category',
    { components, category: 'SERVICE' },
    'category',
    'category must be one of MARKETING, UTILITY, AUTHENTICATION, received "SERVICE"',
  ],
  [
    'a redirect that no deployment has',
    { components, allow_button_url_change: true },
    'allow_button_url_change',
    'allow_button_url_change needs REDIRECT_BASE_URL, which this deployment does not set',
  ],
  [
    'a redirect as text',
    { components, allow_button_url_change: 'true' },
    'allow_button_url_change',
    'allow_button_url_change is invalid: expected true or false, received "true"',
  ],
  ['a bid that is none', { components, optimization_spec: [] }, 'optimization_spec', 'must be an object, received []'],
  ['a country', { components, country: 'AR' }, 'country', ofCreation('country')],
  ['pairs', { components, channel_campaigns: [] }, 'channel_campaigns', ofCreation('channel_campaigns')],
  ['a format', { components, parameter_format: 'positional' }, 'parameter_format', ofCreation('parameter_format')],
  [
    'a permission',
    { components, allow_category_change: true },
    'allow_category_change',
    ofCreation('allow_category_change'),
  ],
  [
    'a misspelt field',
    { components, Category: 'MARKETING' },
    'Category',
    'unrecognized field: Category; did you mean category?',
  ],
  [
    'a forbidden key within what is passed on',
    { components, optimization_spec: JSON.parse('{"bid_amount":1,"a":[{"__proto__":{}}]}') },
    'optimization_spec',
    'forbidden key: __proto__',
  ],
])('%s', (_, body, path, message) => {
  expect(refused(() => parsed(body))).toMatchObject({
    status: 400,
    code: 'invalid_request',
    details: { errors: [{ path, message }] },
  });
});

test('all faults at once', () => {
  const body = {
    country: 'AR',
    category: 'x',
    components: {},
    allow_button_url_change: true,
    more: 1,
    client_id: 'abc',
  };
  const { message, details } = refused(() => parsed(body));
  expect(message).toBe(ofCreation('country'));
  expect(details.errors?.map(({ path }) => path)).toEqual([
    'country',
    'category',
    'components',
    'more',
    'allow_button_url_change',
    'client_id',
  ]);
});
