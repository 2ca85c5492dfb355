import { expect, test } from 'vitest';
import { parseEditRequest } from '../../../../lib/templates/edit/edit-request.ts';
import { refused } from '../../../support/refused.ts';
import { rows } from '../../../support/rows.ts';

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

const bidAlone = 'components is required, also when only optimization_spec changes: send the components as listed';
const categories = 'one of MARKETING, UTILITY, AUTHENTICATION';
const notOffered = 'needs REDIRECT_BASE_URL, which this deployment does not set';
const isFault = (body: object, path: string, message: string) =>
  expect(refused(() => parsed(body))).toMatchObject({
    status: 400,
    code: 'invalid_request',
    details: { errors: [{ path, message }] },
  });

test.each(rows`
  {"components":{}}                   | components is invalid: expected a list, received {}
  {"category":"SERVICE"}              | category must be ${categories}, received "SERVICE"
  {"allow_button_url_change":true}    | allow_button_url_change ${notOffered}
  {"allow_button_url_change":"true"}  | allow_button_url_change is invalid: expected true or false, received "true"
  {"optimization_spec":[]}            | must be an object, received []
  {"optimization_spec":{"bid_amount":1,"a":[{"__proto__":{}}]}} | forbidden key: __proto__
  {"country":"AR"}                    | ${ofCreation('country')}
  {"channel_campaigns":[]}            | ${ofCreation('channel_campaigns')}
  {"parameter_format":"positional"}   | ${ofCreation('parameter_format')}
  {"allow_category_change":true}      | ${ofCreation('allow_category_change')}
  {"Category":"MARKETING"}            | unrecognized field: Category; did you mean category?
`)('%s is one fault: %s', (given, message) => {
  const more = JSON.parse(given);
  isFault({ components, ...more }, Object.keys(more)[0] ?? '', message);
});

test('components are required', () => {
  isFault({}, 'components', 'components is required');
  isFault({ optimization_spec: { bid_amount: 90 } }, 'components', bidAlone);
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
