import { describe, expect, test } from 'vitest';
import languages from '../src/data/languages.json' with { type: 'json' };
import { expectManagementError, otp } from './support/definitions.ts';
import { firstWaba, recipient, secondWaba, simulatorOfFile, templateMessage } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });
const create = (body: object) => simulator.post(`${firstWaba}/message_templates`, body);
const fieldsOf = async (id: string, fields: string) => (await simulator.get(id, { fields })).body;

describe('the library', () => {
  const namesOf = async (query: Readonly<Record<string, string>>) => {
    const { body } = await simulator.get('message_template_library', query);
    return body.data.map(({ name, language }: { name: string; language: string }) => `${name} ${language}`);
  };

  test('lists its templates, page by page', async () => {
    const { body } = await simulator.get('message_template_library', { limit: '2' });
    expect(body.data[0]).toEqual({
      id: '7147013345418927',
      name: 'low_balance_warning_1',
      language: 'en_US',
      category: 'UTILITY',
      topic: 'PAYMENTS',
      usecase: 'LOW_BALANCE_WARNING',
      industry: ['FINANCIAL_SERVICES'],
      header: expect.any(String),
      body: expect.stringContaining('{{1}}'),
      body_params: expect.any(Array),
      body_param_types: ['TEXT', 'NUMBER', 'AMOUNT'],
      buttons: expect.any(Array),
    });
    const next = await simulator.call('GET', body.paging.next.slice(simulator.url.length));
    expect(next.body.data).toHaveLength(2);
  });

  test.each<[Readonly<Record<string, string>>, readonly string[]]>([
    [{ search: 'Tu pedido' }, ['delivery_update_1 es']],
    [{ usecase: 'DELIVERY_UPDATE', language: 'en_US' }, ['delivery_update_1 en_US']],
    [{ topic: '["payments"]' }, ['low_balance_warning_1 en_US']],
    [{ industry: 'FINANCIAL_SERVICES', category: 'AUTHENTICATION' }, ['verification_code_1 en_US']],
    [{ search: 'nothing like it' }, []],
  ])('%j', async (query, names) => {
    expect(await namesOf(query)).toEqual(names);
  });
});

describe('a template chosen in the library', () => {
  const chosen = {
    name: 'on_its_way',
    language: 'en_US',
    category: 'UTILITY',
    library_template_name: 'delivery_update_1',
    library_template_body_inputs: { add_track_package_link: true },
    library_template_button_inputs: [
      {
        type: 'URL',
        url: { base_url: 'https://andes.example.com/{{1}}', url_suffix_example: 'https://andes.example.com/1' },
      },
    ],
  };

  test('is approved at once, says where it is from, and is sent', async () => {
    const { status, body } = await create(chosen);
    expect([status, body]).toEqual([200, { id: expect.any(String), status: 'APPROVED', category: 'UTILITY' }]);
    const { library_template_name: from, components } = await fieldsOf(body.id, 'library_template_name,components');
    expect([from, components.map(({ type }: { type: string }) => type)]).toEqual([
      'delivery_update_1',
      ['HEADER', 'BODY', 'BUTTONS'],
    ]);
    expect(components[2].buttons).toMatchObject([{ type: 'URL', url: 'https://andes.example.com/{{1}}' }]);
    const parameters = ['Ana', 'A-1', 'May 5'].map((text) => ({ type: 'text', text }));
    const suffix = { type: 'button', sub_type: 'url', index: 0, parameters: [{ type: 'text', text: '1' }] };
    const sent = await simulator.send(recipient, templateMessage('on_its_way', [{ type: 'body', parameters }, suffix]));
    expect(sent.status).toBe(200);
    await simulator.control('POST', 'clock', { advance_seconds: 3_600 });
    const { status: later, last_updated_time: changed } = await fieldsOf(body.id, 'status,last_updated_time');
    expect([later, changed]).toEqual(['APPROVED', '2026-11-20T12:00:00+0000']);
  });

  test('a code, with what is said beside it', async () => {
    const { status, body } = await create({
      name: 'my_code',
      language: 'en_US',
      category: 'AUTHENTICATION',
      library_template_name: 'verification_code_1',
      library_template_body_inputs: { add_security_recommendation: true, code_expiration_minutes: 5 },
      library_template_button_inputs: [{ type: 'OTP', otp_type: 'COPY_CODE' }],
    });
    expect([status, body.status]).toEqual([200, 'APPROVED']);
    const { components } = await fieldsOf(body.id, 'components');
    expect(components).toMatchObject([
      { add_security_recommendation: true },
      { code_expiration_minutes: 5 },
      { buttons: [{ text: 'Copy code' }] },
    ]);
  });

  test.each<[object, RegExp]>([
    [{ library_template_name: 'no_such_1' }, /no template no_such_1;/],
    [{ language: 'de' }, /no template delivery_update_1 in de;/],
    [{ category: 'AUTHENTICATION' }, /delivery_update_1 is UTILITY/],
  ])('%j: refused', async (changes, message) => {
    expectManagementError(await create({ ...chosen, ...changes }), undefined, message);
  });

  test.each<[object, RegExp]>([
    [
      { library_template_button_inputs: [{ type: 'PHONE_NUMBER', phone_number: '+16505551234' }] },
      /PHONE_NUMBER button/,
    ],
    [{ components: [] }, /Unexpected key "components"/],
  ])('%j: refused by the graph', async (changes, message) => {
    const { status, body } = await create({ ...chosen, ...changes });
    expect([status, body.error.code, body.error.message]).toEqual([400, 100, expect.stringMatching(message)]);
  });
});

describe('one-time codes in several languages at once', () => {
  const path = `${firstWaba}/upsert_message_templates`;
  const codes = (changes: object = {}) => ({
    name: 'codes',
    languages: ['en_US', 'es'],
    category: 'AUTHENTICATION',
    components: otp(),
    ...changes,
  });

  test('made and changed, approved at once; as JSON in a JSON string too', async () => {
    const made = await simulator.post(path, codes());
    expect([made.status, made.body]).toEqual([
      200,
      {
        data: ['en_US', 'es'].map((language) => ({
          id: expect.any(String),
          status: 'APPROVED',
          category: 'AUTHENTICATION',
          language,
        })),
      },
    ]);
    const [, footer, button] = otp();
    const components = [{ type: 'BODY' }, { ...footer, code_expiration_minutes: 3 }, button];
    const again = await simulator.post(path, JSON.stringify(codes({ languages: ['es', 'de'], components })));
    expect(again.body.data).toMatchObject([{ id: made.body.data[1].id }, { language: 'de' }]);
    expect((await fieldsOf(again.body.data[0].id, 'components')).components[1].code_expiration_minutes).toBe(3);
    expect((await fieldsOf(made.body.data[0].id, 'components')).components[1].code_expiration_minutes).toBe(10);
  });

  test('they use up creations, and when there are not enough nothing is made', async () => {
    const all = Object.keys(languages);
    const most = await simulator.post(path, codes({ languages: all.slice(0, 99) }));
    expect(most.body.data).toHaveLength(99);
    const more = await simulator.post(path, codes({ languages: all.slice(98, 101) }));
    expect([more.status, more.body.error.code]).toEqual([400, 80007]);
    const last = await simulator.post(path, codes({ languages: all.slice(98, 100) }));
    expect(last.body.data).toHaveLength(2);
  });

  test('of one that is paused the pause is over for good; a disabled one stays as it is', async () => {
    const id = (await simulator.post(path, codes())).body.data[0].id;
    await simulator.control('POST', `templates/${id}/pause`);
    await simulator.control('POST', 'clock', { advance_seconds: 3_600 });
    await simulator.post(path, codes());
    await simulator.control('POST', 'clock', { advance_seconds: 3 * 3_600 });
    expect(await fieldsOf(id, 'status,last_updated_time')).toMatchObject({
      status: 'APPROVED',
      last_updated_time: '2026-11-20T13:00:00+0000',
    });
    await simulator.control('POST', `templates/${id}`, { status: 'DISABLED' });
    expectManagementError(await simulator.post(path, codes()), 2388039, /DISABLED can't be edited/);
  });

  test.each<[object, RegExp]>([
    [{ components: otp({ text: 'Copy' }) }, /text can't be given/],
    [{ name: 'order_update' }, /order_update is UTILITY/],
    [{ components: otp().slice(0, 2) }, /exactly one button/],
  ])('%j: refused, and nothing is made', async (changes, message) => {
    expectManagementError(await simulator.post(path, codes(changes)), undefined, message);
    expect((await simulator.get(`${firstWaba}/message_templates`, { name: 'codes' })).body.data).toEqual([]);
  });

  test.each<[object, RegExp]>([
    [{ category: 'UTILITY' }, /category must be one of \{AUTHENTICATION\}/],
    [{ languages: ['es', 'xx'] }, /language must be a supported language/],
    [{ languages: [] }, /languages must be/],
  ])('%j: refused by the graph', async (changes, message) => {
    const { body } = await simulator.post(path, codes(changes));
    expect(body.error).toMatchObject({ code: 100, message: expect.stringMatching(message) });
    expect((await simulator.get(`${firstWaba}/message_templates`, { name: 'codes' })).body.data).toEqual([]);
  });
});

describe('templates compared', () => {
  const [one, other] = ['1100000000000001', '1100000000000002'];
  const end = Date.parse('2026-11-21T00:00:00Z') / 1_000;
  const compare = (changes: Readonly<Record<string, string>> = {}) =>
    simulator.get(`${one}/compare`, {
      template_ids: `[${other}]`,
      start: String(end - 7 * 86_400),
      end: String(end),
      ...changes,
    });

  test('the sends of each template, and their results', async () => {
    for (const to of [recipient, '5491150000002']) await simulator.send(to);
    const components = [{ type: 'BODY', text: 'Hola.' }];
    await simulator.control('POST', 'templates', {
      waba_id: firstWaba,
      templates: [{ name: 'order_update', language: 'es', category: 'UTILITY', components }],
    });
    expect((await simulator.send(recipient, templateMessage('order_update', [], 'es'))).status).toBe(200);
    await simulator.control('POST', `recipients/${recipient}`, { blocked: true });
    expect((await compare()).body).toEqual({
      data: [
        { metric: 'BLOCK_RATE', type: 'RELATIVE', order_by_relative_metric: [other, one] },
        {
          metric: 'MESSAGE_SENDS',
          type: 'NUMBER_VALUES',
          number_values: [
            { key: one, value: 2 },
            { key: other, value: 0 },
          ],
        },
        { metric: 'TOP_BLOCK_REASON', type: 'STRING_VALUES', string_values: [{ key: one, value: 'NO_REASON_GIVEN' }] },
      ],
    });
    const after = { start: String(end), end: String(end + 7 * 86_400) };
    expect((await compare(after)).body.data[1].number_values[0]).toEqual({ key: one, value: 0 });
    const before = { start: String(end - 8 * 86_400), end: String(end - 86_400) };
    expect((await compare(before)).body.data[1].number_values[0]).toEqual({ key: one, value: 0 });
  });

  test('a template of another account, other days, no days: refused', async () => {
    const { body } = await simulator.get(`${secondWaba}/message_templates`, { limit: '1' });
    for (const [changes, message] of [
      [{ template_ids: body.data[0].id }, /same business account/],
      [{ template_ids: '' }, /template_ids is required/],
      [{ start: String(end - 86_400) }, /7, 30, 60, 90 days/],
      [{ start: '' }, /start is required/],
      [{ end: 'now' }, /end must be unix seconds/],
    ] as const) {
      expect((await compare(changes)).body.error).toMatchObject({ code: 100, message: expect.stringMatching(message) });
    }
  });
});
