import { describe, expect, test } from 'vitest';
import { demoSeed } from '../src/seed.ts';
import {
  bodyOf,
  creation,
  expectGraphError,
  expectManagementError,
  mediaHeader,
  otp,
  plainBody,
} from './support/definitions.ts';
import { firstWaba, secondWaba, simulatorAtRest, simulatorOfFile } from './support/simulator.ts';
import { uploadedHandle } from './support/simulator-uploads.ts';

const simulator = simulatorOfFile({ afresh: true });

const create = (changes: Readonly<Record<string, unknown>> = {}, waba = firstWaba) =>
  simulator.post(`${waba}/message_templates`, creation(changes));

describe('a creation that passes', () => {
  test('answers id, status and category, and is read back as the platform shows it', async () => {
    const created = await create();
    expect([created.status, created.body]).toEqual([
      200,
      { id: expect.stringMatching(/^\d+$/), status: 'PENDING', category: 'MARKETING' },
    ]);
    const { body } = await simulator.get(created.body.id, {
      fields:
        'name,language,status,category,sub_category,parameter_format,components,rejected_reason,last_updated_time',
    });
    expect(body).toEqual({
      id: created.body.id,
      ...creation(),
      status: 'PENDING',
      sub_category: 'CUSTOM',
      parameter_format: 'POSITIONAL',
      rejected_reason: 'NONE',
      last_updated_time: '2026-11-20T12:00:00+0000',
    });
  });

  test('words in any letter case; everything else that may be given', async () => {
    const given = {
      name: 'a'.repeat(512),
      category: 'marketing',
      parameter_format: 'named',
      message_send_ttl_seconds: 43_200,
      optimization_spec: { bid_amount: 5_000, bid_strategy: 'LOWEST_COST_WITH_BID_CAP', bid_country: { IN: 1 } },
      cta_url_link_tracking_opted_out: true,
      allow_category_change: true,
      components: [
        {
          type: 'body',
          text: 'Hello {{first_name}}, see {{order_2}} now.',
          example: {
            body_text_named_params: [
              { param_name: 'order_2', example: 'A-1' },
              { param_name: 'first_name', example: 'Ana' },
            ],
          },
        },
        { type: 'buttons', buttons: [{ type: 'quick_reply', text: 'Yes' }] },
      ],
    };
    const { status, body } = await create(given);
    expect([status, body.category]).toEqual([200, 'MARKETING']);
    const read = await simulator.get(body.id, { fields: 'parameter_format,components,optimization_spec' });
    expect(read.body).toMatchObject({
      parameter_format: 'NAMED',
      components: [{ type: 'BODY' }, { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY' }] }],
      optimization_spec: given.optimization_spec,
    });
  });

  test('the handle of a completed upload becomes an https address', async () => {
    const handle = await uploadedHandle(simulator, 'image/png');
    const { body } = await create({ components: [mediaHeader('IMAGE', handle), plainBody] });
    const read = await simulator.get(body.id);
    expect(read.body.components[0].example.header_handle).toEqual([expect.stringMatching(/^https:\/\/scontent\./)]);
  });

  test('a COPY_CODE button gets its fixed label, whatever was given', async () => {
    const list = [{ type: 'COPY_CODE', text: 'Take it', example: 'SAVE20' }];
    const { body } = await create({ components: [plainBody, { type: 'BUTTONS', buttons: list }] });
    expect((await simulator.get(body.id)).body.components[1].buttons).toEqual([
      { type: 'COPY_CODE', text: 'Copy offer code', example: 'SAVE20' },
    ]);
  });

  test('an AUTHENTICATION template gets its fixed texts', async () => {
    const { body } = await create({ category: 'AUTHENTICATION', components: otp(), message_send_ttl_seconds: -1 });
    const { components } = (await simulator.get(body.id)).body;
    expect(components[0].text).toBe('*{{1}}* is your verification code. For your security, do not share this code.');
    expect(components[1].text).toBe('This code expires in 10 minutes.');
    expect(components[2].buttons[0].type).toBe('URL');
  });

  test('another language of a name, and the same name on another WABA', async () => {
    expect((await create()).status).toBe(200);
    expect((await create({ language: 'es' })).status).toBe(200);
    expect((await create({}, secondWaba)).status).toBe(200);
  });

  test('AS_MARKETING in a UTILITY body: the answer says MARKETING, and the other languages follow that', async () => {
    const components = [bodyOf('Hello {{1}}, AS_MARKETING it is.')];
    expect((await create({ category: 'UTILITY', components })).body.category).toBe('MARKETING');
    expectManagementError(await create({ category: 'UTILITY', language: 'es', components }), undefined, /MARKETING/);
    const sibling = { name: 'order_update', language: 'es', category: 'UTILITY', components };
    expect((await create(sibling)).body.category).toBe('UTILITY');
  });
});

describe('refused with a subcode', () => {
  test.each<[number, Record<string, unknown>, RegExp]>([
    [2388046, { name: 'Order' }, /lower-case/],
    [2388046, { name: 'order-ready' }, /lower-case/],
    [2388155, { name: 'hello_world' }, /hello_world/],
    [2388155, { name: 'sample_offer' }, /sample/],
    [2388024, { name: 'order_update', category: 'UTILITY' }, /already en_US/],
  ])('%i: %o', async (subcode, changes, message) => {
    expectManagementError(await create(changes), subcode, message);
  });

  test.each([
    ['verified', 6_000],
    ['not_verified', 250],
  ])('2388019: a business account that is %s has at most %i templates', async (verification, most) => {
    const seed = demoSeed();
    const own = await simulatorAtRest({
      ...seed,
      wabas: seed.wabas.map((waba) => ({
        ...waba,
        node: { ...waba.node, business_verification_status: verification },
        templates: [],
      })),
    });
    const templates = Array.from({ length: most - 1 }, (_, index) => creation({ name: `fill_${index}` }));
    await own.control('POST', 'templates', { waba_id: firstWaba, templates });
    const path = `${firstWaba}/message_templates`;
    expect((await own.post(path, creation())).status).toBe(200);
    expectManagementError(await own.post(path, creation({ language: 'es' })), 2388019, new RegExp(`${most}`));
    const { body } = await own.get(path, { summary: 'message_template_limit', limit: '1' });
    expect(body.summary).toEqual({ message_template_limit: most });
    await own.stop();
  });
});

describe('refused without one', () => {
  test('the category of the other languages', async () => {
    expectManagementError(await create({ name: 'order_update', language: 'es' }), undefined, /are UTILITY/);
    expect((await create({ name: 'order_update', language: 'es', category: 'UTILITY' })).status).toBe(200);
  });

  test.each<[RegExp, Record<string, unknown>]>([
    [/Unexpected key "bid_spec"/, { bid_spec: { bid_amount: 1, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' } }],
    [/Unexpected key "add_security_recommendation"/, { add_security_recommendation: true }],
    [/parameter name is required/, { name: undefined }],
    [/parameter language is required/, { language: undefined }],
    [/parameter components is required/, { components: undefined }],
    [/Param category must be one of \{AUTHENTICATION, MARKETING, UTILITY\}/, { category: 'SERVICE' }],
    [/Param language .* got "en-US"/, { language: 'en-US' }],
    [/Param language .* got "xx"/, { language: 'xx' }],
    [/Param parameter_format must be one of/, { parameter_format: 'ordered' }],
    [/Param components must be an array/, { components: {} }],
    [/Param components\[0\]\['type'\] must be one of/, { components: [{ type: 'BANNER' }] }],
    [/Unexpected key "style"/, { components: [{ ...plainBody, style: 'bold' }] }],
    [/optimization_spec\['bid_amount'\]/, { optimization_spec: { bid_strategy: 'LOWEST_COST_WITH_BID_CAP' } }],
    [/bid_strategy/, { optimization_spec: { bid_amount: 1, bid_strategy: 'HIGHEST' } }],
  ])('%s', async (message, changes) => {
    expectGraphError(await create(changes), message);
  });

  test('a maximum price outside of marketing', async () => {
    const optimization_spec = { bid_amount: 1, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
    expectManagementError(await create({ category: 'UTILITY', optimization_spec }), undefined, /optimization_spec/);
  });

  test('a time to live that the category does not take', async () => {
    expectGraphError(await create({ message_send_ttl_seconds: 60 }), /message_send_ttl_seconds/);
  });
});

test('100 creations in any hour and WABA; what was refused does not count', async () => {
  expect((await create({ name: 'Wrong' })).status).toBe(400);
  for (let index = 0; index < 50; index += 1) expect((await create({ name: `one_${index}` })).status).toBe(200);
  await simulator.control('POST', 'clock', { advance_seconds: 1_800 });
  for (let index = 50; index < 100; index += 1) expect((await create({ name: `one_${index}` })).status).toBe(200);
  const { status, body } = await create();
  expect([status, body.error.code, body.error.is_transient]).toEqual([400, 80007, true]);
  expect((await create({}, secondWaba)).status).toBe(200);
  await simulator.control('POST', 'clock', { advance_seconds: 1_799 });
  expect((await create()).body.error.code).toBe(80007);
  await simulator.control('POST', 'clock', { advance_seconds: 1 });
  expect((await create()).status).toBe(200);
});

test('a token without the WABA: code 200, nothing created', async () => {
  const path = `/v25.0/${firstWaba}/message_templates`;
  const { status, body } = await simulator.call('POST', path, creation(), 'second-waba-platform-token');
  expect([status, body.error.code]).toEqual([403, 200]);
  expect((await create()).status).toBe(200);
});
