import { describe, expect, test } from 'vitest';
import { type BesideBody, parseCreateRequest } from '../../../../lib/templates/create/create-request.ts';
import { refused } from '../../../support/refused.ts';
import { rows } from '../../../support/rows.ts';

const body = { type: 'BODY', text: 'Hello there, good news.' };
const draft = { name: 'good_news', language: 'en_US', category: 'MARKETING', components: [body] };
const code = {
  ...draft,
  category: 'AUTHENTICATION',
  components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] }],
};
const parsed = (request: unknown, beside: BesideBody = {}) => parseCreateRequest(request, beside);
const faultsOf = (request: unknown, beside?: BesideBody) =>
  (refused(() => parsed(request, beside)).details.errors ?? []).map(({ path, message }) => `${path}: ${message}`);

test('everything that may be said', () => {
  const spec = { bid_amount: 5_000, bid_country_multiplier_overrides: [{ country: 'IN' }], anything: 1 };
  const said = {
    ...draft,
    category: 'marketing',
    parameter_format: 'positional',
    client_id: 1001,
    channel_campaigns: { channel_id: 501, campaign_id: 10 },
    optimization_spec: spec,
    allow_button_url_change: false,
    allow_category_change: true,
    add_security_recommendation: false,
    message_send_ttl_seconds: 43_200,
    country: 'ar',
  };
  expect(parsed(said)).toEqual({
    name: 'good_news',
    language: 'en_US',
    draft: { category: 'MARKETING', components: [body], fileAttached: false, addSecurityRecommendation: false },
    clientId: 1001,
    pairs: [{ channelId: 501, campaignId: 10 }],
    country: 'AR',
    urlChange: false,
    passedOn: { message_send_ttl_seconds: 43_200, allow_category_change: true, optimization_spec: spec },
  });
});

test('redirects may be wished for where they are offered', () => {
  const wish = { ...draft, allow_button_url_change: true };
  expect(parseCreateRequest(wish, { redirectsOffered: true }).urlChange).toBe(true);
});

test('several pairs, each once', () => {
  const pair = { channel_id: 501, campaign_id: 10 };
  const { pairs } = parsed({ ...draft, channel_campaigns: [pair, { ...pair, campaign_id: 11 }, pair] });
  expect(pairs).toEqual([
    { channelId: 501, campaignId: 10 },
    { channelId: 501, campaignId: 11 },
  ]);
  expect(parsed({ ...draft, channel_campaigns: [] }).pairs).toEqual([]);
});

test('the settings of a code travel to the components', () => {
  const { draft: given } = parsed({ ...code, code_expiration_minutes: 0.5, add_security_recommendation: true });
  expect(given).toMatchObject({ codeExpirationMinutes: 0.5, addSecurityRecommendation: true });
});

const oneOf = 'one of MARKETING, UTILITY, AUTHENTICATION, received';
const named = 'must be 1 to 512 characters of a-z, 0-9 and _, received';
const overridden = 'optimization_spec: bid_country_multiplier_overrides must be an object or an array, received';
const alpha2 = 'must be an ISO 3166-1 alpha-2 code, received';
const handle = 'the handle of an upload; a public URL belongs in header_source, received "https://a.example.com/x"';
const lives = 'message_send_ttl_seconds:';

// Limits are in test/lib/templates/rules/agreement-boundaries.test.ts, components in components*.test.ts there.
test.each(rows`
  {"namespace":"x"}                   | namespace: unrecognized field: namespace
  {"name":"Good News"}                | name: name ${named} "Good News"
  {"name":"${'x'.repeat(513)}"}       | name: name ${named} "${'x'.repeat(56)}...
  {"language":"english"}              | language: language must be a code such as es, en_US or pt_BR, received "english"
  {"parameter_format":"named"}        | parameter_format: parameter_format must be positional (named parameters are not supported), received "named"
  {"category":"SERVICE"}              | category: category must be ${oneOf} "SERVICE"
  {"category":7}                      | category: category must be ${oneOf} 7
  {"category":"utilty"}               | category: category must be ${oneOf} "utilty"; did you mean UTILITY?
  {"components":{}}                   | components: components is invalid: expected a list, received {}
  {"components":[${Array(21).fill('1').join()}]} | components: components is invalid: expected at most 20 items, received 21
  {"allow_button_url_change":"true"}  | allow_button_url_change: allow_button_url_change is invalid: expected true or false, received "true"
  {"allow_button_url_change":true}    | allow_button_url_change: allow_button_url_change needs REDIRECT_BASE_URL, which this deployment does not set
  {"optimization_spec":[]}            | optimization_spec: must be an object, received []
  {"optimization_spec":{"bid_country_multiplier_overrides":null}} | ${overridden} null
  {"optimization_spec":{"bid_country_multiplier_overrides":"IN"}} | ${overridden} "IN"
  {"country":"ARG"}                   | country: country ${alpha2} "ARG"
  {"country":"XK"}                    | country: country ${alpha2} "XK"
  {"country":""}                      | country: country ${alpha2} ""
  {"message_send_ttl_seconds":-1}     | ${lives} 43200 to 2592000 seconds in MARKETING, received -1
  {"category":"UTILITY","message_send_ttl_seconds":29} | ${lives} 30 to 43200 seconds in UTILITY, or -1, received 29
  {"code_expiration_minutes":5}       | code_expiration_minutes: is for AUTHENTICATION templates only
  {"add_security_recommendation":true} | add_security_recommendation: is for AUTHENTICATION templates only
`)('%.60s is one fault: %s', (changes, fault) => {
  expect(faultsOf({ ...draft, ...JSON.parse(changes) })).toEqual([fault]);
});

test.each(rows`
  {"header_source":"https://10.0.0.1/x.png"} | .header_source: must name a public host
  {"header_source":"http://a.example.com/x"} | .header_source: must use https
  {"header_source":5}                        | .header_source: a text that is not empty, received 5
  {"header_source":null}                     | .header_source: a text that is not empty, received null
  {"header_handle":"https://a.example.com/x"} | .header_handle: ${handle}
  {"example":{"header_handle":["https://a.example.com/x"]}} | .example.header_handle: ${handle}
  {"header_source":"https://a.example.com/x","header_handle":"4::x"} | : one source of media, received header_handle and header_source
`)('of a picture %s is one fault: %s', (media, fault) => {
  const components = [{ type: 'HEADER', format: 'IMAGE', ...JSON.parse(media) }, body];
  expect(faultsOf({ ...draft, components })).toEqual([`components[0]${fault}`]);
});

test('a code of a minute too many is one fault, and a request without a name', () => {
  const minutes = 'code_expiration_minutes: a number from 0.5 to 15, received 15.1';
  expect(faultsOf({ ...code, code_expiration_minutes: 15.1 })).toEqual([minutes]);
  expect(faultsOf({ ...draft, name: undefined })).toEqual(['name: name is required']);
});

test.each([[[]], [{}], [[{ country: 'IN', x: [1, null] }]], [{ IN: { y: 2 } }]])(
  'overrides %j of a bid are opaque (D18)',
  (overrides) => {
    const optimization_spec = { bid_country_multiplier_overrides: overrides };
    expect(parsed({ ...draft, optimization_spec }).passedOn).toEqual({ optimization_spec });
  },
);

test('all faults at once, those of the components among them', () => {
  const request = {
    name: 'X',
    language: 'en_US',
    category: 'UTILITY',
    components: [{ type: 'BODY' }],
    more: 1,
    country: 1,
  };
  expect(faultsOf(request).map((fault) => fault.split(':')[0])).toEqual([
    'name',
    'country',
    'more',
    'components[0].text',
  ]);
});

test('pairs that are none', () => {
  const faults = faultsOf({
    ...draft,
    channel_campaigns: [{ channel_id: 501 }, { channel_id: 'x', campaign_id: 1, id: 2 }],
  });
  expect(faults.map((fault) => fault.split(':')[0])).toEqual([
    'channel_campaigns[0].campaign_id',
    'channel_campaigns[1].channel_id',
    'channel_campaigns[1].id',
  ]);
});

test.each([null, [], 'x'])('%j is no request', (request) => {
  expect(refused(() => parsed(request)).status).toBe(400);
});

const withImage = { ...draft, components: [{ type: 'HEADER', format: 'IMAGE' }, body] };

test('a file may stand for the media of a header', () => {
  const file = { bytes: Buffer.from('\xff\xd8\xff', 'latin1'), name: 'a.jpg' };
  expect(parsed(withImage, { file }).draft.fileAttached).toBe(true);
});

test('a file of another kind is told with all other faults', () => {
  const file = { bytes: Buffer.from('%PDF-1.7'), name: 'a.pdf' };
  const request = { ...withImage, name: 'X', components: [...withImage.components, 5] };
  expect(faultsOf(request, { file }).map((fault) => fault.split(':')[0])).toEqual([
    'name',
    'components[2].type',
    'file',
  ]);
});

describe('a category that is none hides no fault of the others', () => {
  const settings = { code_expiration_minutes: 16, message_send_ttl_seconds: 29 };
  const ofSettings = [
    'message_send_ttl_seconds: 30 to 2592000 seconds in any category, or -1, received 29',
    'code_expiration_minutes: a number from 0.5 to 15, received 16',
  ];
  const wrongType = (category: string, types: string) =>
    `components[1].type: one of ${types} in ${category}, received "NOPE"`;
  const all = 'HEADER, BODY, FOOTER, BUTTONS, CAROUSEL, LIMITED_TIME_OFFER';
  const code = [
    { type: 'BODY' },
    { type: 'NOPE' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE' }] },
  ];
  test.each<[unknown, unknown[], string]>([
    [undefined, [body, { type: 'NOPE' }], wrongType('MARKETING', all)],
    ['promo', [body, { type: 'NOPE' }], wrongType('MARKETING', all)],
    [7, [body, { type: 'NOPE' }], wrongType('MARKETING', all)],
    ['UTILTY', [body, { type: 'NOPE' }], wrongType('UTILITY', 'HEADER, BODY, FOOTER, BUTTONS')],
    ['SERVICE', code, wrongType('AUTHENTICATION', 'BODY, FOOTER, BUTTONS')],
  ])('%j', (category, components, fault) => {
    const faults = faultsOf({ name: 'Ñ', language: 'x', category, components, ...settings });
    expect(faults.map((each) => each.split(':')[0])).toContain('category');
    expect(faults.slice(-3)).toEqual([...ofSettings, fault]);
    expect(faults).toHaveLength(6);
  });

  test('nor do components that are none hide the settings', () => {
    expect(faultsOf({ ...draft, components: 'x', ...settings })).toHaveLength(3);
  });
});

test('a client_id that is none is told beside other faults; by itself it has a code of its own', () => {
  const wrong = { ...draft, name: 'X', client_id: 'abc' };
  expect(faultsOf(wrong)).toEqual([expect.stringMatching(/^name: /), 'client_id: invalid client_id: abc']);
  expect(faultsOf({ ...draft, name: 'X' }, { queryClientId: '0' })).toHaveLength(2);
  expect(parsed({ ...draft, client_id: 'abc' }).clientId).toBe('abc');
});
