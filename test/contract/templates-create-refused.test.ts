import { describe, expect, test } from 'vitest';
import { create, creationsAsked, expectRefused, plainBody, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();

/* Each rule by itself is shown in test/lib/templates/{create,rules}/; here is what a caller is told, a case of each kind. */
describe('fields', () => {
  const category = 'AUTHENTICATION';
  test.each<[what: string, body: unknown, message: string, at: string[]]>([
    ['nothing', {}, 'name is required', ['name', 'language', 'category', 'components']],
    [
      'an unknown category',
      probes.draft({ category: 'SERVICE' }),
      'category is invalid: expected ("MARKETING" | "UTILITY" | "AUTHENTICATION"), received "SERVICE"',
      ['category'],
    ],
    [
      'components that are none',
      probes.draft({ components: {} }),
      'components is invalid: expected Array, received Object',
      ['components'],
    ],
    [
      '21 components',
      probes.draft({ components: Array(21).fill(plainBody) }),
      'components is invalid: expected <=20, received 21',
      ['components'],
    ],
    [
      'allow_button_url_change as text',
      probes.draft({ allow_button_url_change: 'true' }),
      'allow_button_url_change is invalid: expected boolean, received "true"',
      ['allow_button_url_change'],
    ],
    [
      'several, a prototype among them',
      JSON.stringify({ ...probes.draft(), a: 1 }).replace('{', '{"__proto__":{},'),
      'unrecognized field: __proto__',
      ['__proto__', 'a'],
    ],
    [
      'a list for optimization_spec',
      probes.draft({ optimization_spec: [] }),
      'optimization_spec: must be an object',
      ['optimization_spec'],
    ],
    [
      'overrides that are null',
      probes.draft({ optimization_spec: { bid_country_multiplier_overrides: null } }),
      'optimization_spec: bid_country_multiplier_overrides must be an object or an array',
      ['optimization_spec'],
    ],
    [
      'a pair without campaign',
      probes.draft({ channel_campaigns: { channel_id: 501 } }),
      'channel_campaigns[0].campaign_id is required',
      ['channel_campaigns[0].campaign_id'],
    ],
    [
      'no source of media',
      probes.draft({ components: [{ type: 'HEADER', format: 'IMAGE' }, plainBody] }),
      'components[0]: a media header needs header_source, header_handle or a file',
      ['components[0]'],
    ],
    [
      'an OTP that is none',
      probes.draft({
        category,
        components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'TAP' }] }],
      }),
      'components[1].buttons[0].otp_type: one of COPY_CODE, ONE_TAP, ZERO_TAP, received "TAP"',
      ['components[1].buttons[0].otp_type'],
    ],
    [
      'ZERO_TAP without apps and terms',
      probes.draft({
        category,
        components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'ZERO_TAP' }] }],
      }),
      'components[1].buttons[0].zero_tap_terms_accepted: true is required, received nothing',
      ['components[1].buttons[0].zero_tap_terms_accepted', 'components[1].buttons[0].supported_apps'],
    ],
  ])('%s', async (_, body, message, at) => {
    await expectRefused(() => create(body), { message, at });
  });

  test.each(['', '{', 'null', '[]', '"text"', '5', '{"name":"a",}', '['.repeat(100_000)])(
    '%.20s is no object: 400',
    async (body) => {
      const message = /^(null|\[\]|"text"|5)$/.test(body)
        ? 'the request body must be a JSON object'
        : 'the request body must be valid JSON';
      await expectRefused(() => create(body), { code: 'malformed_body', message });
    },
  );

  test('every fault at once, of fields and of components, each with its path', async () => {
    const cards = [{ components: [{ type: 'BODY', text: 'x' }] }];
    const body = {
      name: 'X',
      language: 'en_US',
      category: 'MARKETING',
      message_send_ttl_seconds: 30,
      code_expiration_minutes: 10,
      colour: 'red',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Hello {{1}} *you*' },
        { type: 'BODY', text: '{{2}} comes first', example: { body_text: [['a', 'b']] }, colour: 'red' },
        { type: 'FOOTER', text: 'x'.repeat(61) },
        { type: 'FOOTER', text: 'x' },
        { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Go', url: 'ftp://example.com' }, { type: 'NOPE' }] },
        { type: 'CAROUSEL', cards },
        7,
      ],
    };
    const before = await creationsAsked();
    const reply = await create(body);
    expect([reply.status, reply.body.message]).toEqual([400, 'name must be 1 to 512 characters of a-z, 0-9 and _']);
    const paths = reply.body.errors.map(({ path }: { path: string }) => path);
    expect(new Set(paths)).toEqual(
      new Set([
        'name',
        'colour',
        'message_send_ttl_seconds',
        'code_expiration_minutes',
        'components[0].text',
        'components[0].example.header_text',
        'components[1].text',
        'components[1].colour',
        'components[1].example.body_text',
        'components[2].text',
        'components[3]',
        'components[4].buttons[0].url',
        'components[4].buttons[1].type',
        'components[5].cards',
        'components[6].type',
        'components[0]',
        'components[2]',
        'components[4]',
      ]),
    );
    expect(await creationsAsked()).toBe(before);
  });
});
