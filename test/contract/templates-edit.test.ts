import { afterEach, describe, expect, test } from 'vitest';
import { api, platform, synchronize, tokenOf } from '../support/api.ts';
import { filePart, formBody, templatePart } from '../support/multipart.ts';
import { boundaryIs, postForm, templateField } from '../support/template-forms.ts';
import {
  created,
  createdTemplate,
  edit,
  lastSent,
  listedTemplate,
  plainBody,
  reviewAll,
  said,
  templateProbes,
} from '../support/template-probes.ts';

/*
 * Each kind has one case, as a caller sees it. Differences are in test/lib/templates/edit/, races in
 * test/functions/templates-edit.adapter.test.ts.
 */

const probes = templateProbes();
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const changed = [200, { success: true, changed: true }];
const unchanged = [200, { success: true, changed: false, message: 'nothing differs from the template as it is' }];
const body = (text: string) => ({ type: 'BODY', text });
const footer = { type: 'FOOTER', text: 'Andes Retail' };

/** Creates a template that the platform approves, rejects or leaves in review. */
async function template(word: 'REVIEW_NOW' | 'REVIEW_NOW REJECT_SCAM' | 'REVIEW_NEVER', changes = {}) {
  const components = [body(`Your order ${word} is ready.`), footer];
  return { ...(await createdTemplate(probes.draft({ components, ...changes }))), components };
}
const editsOf = async ({ platformId }: { platformId: string }) =>
  (await platform(`GET /_control/requests?method=POST&path=/${platformId}&limit=0`)).body.total;

describe('an edit that changes something', () => {
  test('replaces the components, sets PENDING for both clients, and tells the platform nothing else', async () => {
    const { id, name, platformId } = await template('REVIEW_NOW');
    const components = [body('Your parcel is ready.')];
    const reply = await edit(id, { components });
    expect(said(reply)).toEqual(changed);
    expect(reply.text).toBe('{"success":true,"changed":true}');
    expect(await lastSent(`/${platformId}`)).toEqual({ components });
    for (const clientId of [1001, 1002]) {
      const { platform_template: stored, active } = await listedTemplate(clientId, name);
      expect({ ...stored, active }).toMatchObject({
        id: platformId,
        name,
        status: 'PENDING',
        components,
        active: true,
      });
    }
    await reviewAll();
    expect(await listedTemplate(1002, name)).toMatchObject({ platform_template: { status: 'APPROVED', components } });
  });

  test('name and language are ignored; the category of one that was rejected may change', async () => {
    const { id, name, platformId, components } = await template('REVIEW_NOW REJECT_SCAM');
    expect(await listedTemplate(1001, name)).toMatchObject({ platform_template: { status: 'REJECTED' } });
    const request = { name: 'other_name', language: 'es', category: 'marketing', components };
    expect(said(await edit(id, request))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ category: 'MARKETING' });
    const { platform_template: stored } = await listedTemplate(1001, name);
    expect(stored).toMatchObject({ name, language: 'en_US', category: 'MARKETING', status: 'PENDING' });
    expect(stored).not.toHaveProperty('rejected_reason');
  });

  test('any document of any client of the WABA names it (D12), on any DID of the WABA', async () => {
    const { name, components } = await template('REVIEW_NOW REJECT_SCAM');
    const { id } = await listedTemplate(1002, name);
    const request = { components: [components[0], { ...footer, text: 'Andes' }] };
    expect(said(await edit(id, request, { did: '5491100000002' }))).toEqual(changed);
  });

  test('fields beside the components', async () => {
    const spec = { bid_amount: 100, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
    const beside = { optimization_spec: spec, message_send_ttl_seconds: 43_200 };
    const { id, platformId, components } = await template('REVIEW_NOW', { category: 'MARKETING', ...beside });
    expect(said(await edit(id, { components, ...beside }))).toEqual(unchanged);
    const other = { optimization_spec: { ...spec, bid_amount: 150 }, message_send_ttl_seconds: 86_400 };
    expect(said(await edit(id, { components, ...other }))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual(other);
  });

  test('a bid, on a template that was made without one', async () => {
    const optimization_spec = { bid_amount: 100, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
    const { id, platformId, components } = await template('REVIEW_NOW', { category: 'MARKETING' });
    expect(said(await edit(id, { components, optimization_spec }))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ optimization_spec });
  });
});

describe('an edit is judged by what the platform has now (D20)', () => {
  test('the old text is a change once the text was changed at the platform', async () => {
    const { id, name, platformId, components } = await template('REVIEW_NOW');
    const elsewhere = [body('Changed elsewhere.'), footer];
    await platform(`POST /_control/templates/${platformId}`, { components: elsewhere });
    expect(said(await edit(id, { components: elsewhere }))).toEqual(unchanged);
    expect((await listedTemplate(1001, name)).platform_template.components).toEqual(elsewhere);
    expect(said(await edit(id, { components }))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ components });
  });

  test('a one-time code: what the platform does not show, and a FOOTER that goes', async () => {
    const app = { package_name: 'com.example.app', signature_hash: 'K8a/AINcGX7' };
    const code = (supported: object, minutes: boolean) => [
      { type: 'BODY' },
      ...(minutes ? [{ type: 'FOOTER', code_expiration_minutes: 10 }] : []),
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'ONE_TAP', text: 'Copy', supported_apps: [supported] }] },
    ];
    const draft = probes.draft({ category: 'AUTHENTICATION', components: code(app, true) });
    const { id, platformId } = await createdTemplate(draft);
    await reviewAll();
    expect(said(await edit(id, { components: code(app, true) }))).toEqual(unchanged);
    const others = [
      code({ ...app, package_name: 'com.example.other' }, true),
      code({ ...app, signature_hash: 'K8a/AINcGX8' }, true),
      code(app, false),
    ];
    for (const components of others) {
      await platform(`POST /_control/templates/${platformId}`, { status: 'REJECTED' });
      expect(said(await edit(id, { components }))).toEqual(changed);
      expect(await lastSent(`/${platformId}`)).toEqual({ components });
    }
    expect(said(await edit(id, { components: code(app, false) }))).toEqual(unchanged);
  });

  test('what the listing shows can be put back as it is, and so can what was asked for: the platform is not told', async () => {
    const buttons = [
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}', example: ['A-1'] },
      { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' },
    ];
    const components = [
      { type: 'HEADER', format: 'TEXT', text: 'News for {{1}}!', example: { header_text: ['Ana'] } },
      { type: 'BODY', text: 'REVIEW_NOW Hi {{1}}, bye.', example: { body_text: ['Ana'] } },
      { type: 'BUTTONS', buttons },
    ];
    const what = await createdTemplate(probes.draft({ components }));
    for (const read of [async () => undefined, reviewAll]) {
      await read();
      const { platform_template: stored } = await listedTemplate(1001, what.name);
      expect(said(await edit(what.id, { components: stored.components }))).toEqual(unchanged);
      const asked = { name: what.name, category: 'utility', components: components.toReversed() };
      expect(said(await edit(what.id, asked))).toEqual(unchanged);
    }
    expect(await editsOf(what)).toBe(0);
  });

  test('media by a form: created, edited, and left alone when nothing is new (D18)', async () => {
    const image = (more: object = {}) => ({ type: 'HEADER', format: 'IMAGE', ...more });
    const uploads = async () => (await platform('GET /_control/requests?path=uploads&limit=0')).body.total as number;
    const { name, ...draft } = probes.draft();
    const parts = [templateField(probes, { ...draft, name, components: [image(), plainBody] }), filePart];
    const reply = await postForm(parts);
    expect(reply).toMatchObject(created);
    await platform(`POST /_control/templates/${reply.body.id}`, { status: 'APPROVED' });
    const { id, platform_template: stored } = await listedTemplate(1001, name);

    const before = await uploads();
    expect(said(await edit(id, { components: stored.components }))).toEqual(unchanged);
    expect(await uploads()).toBe(before);

    const content = JSON.stringify({ components: [image(), plainBody] });
    const form = formBody([{ ...templatePart, content }, filePart], '--a form_1.0');
    expect(said(await edit(id, form, { headers: boundaryIs('"--a form_1.0"') }))).toEqual(changed);
    expect(await uploads()).toBe(before + 1);

    const refused = await edit(id, { components: [image({ header_source: 'https://127.0.0.1/x.png' }), plainBody] });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
    expect(await uploads()).toBe(before + 1);

    // The platform shows a URL in place of the handle, and takes only handles (D20).
    await platform(`POST /_control/templates/${reply.body.id}`, { status: 'REJECTED' });
    await synchronize('supervisor1001');
    const shown = (await listedTemplate(1001, name)).platform_template.components[0];
    expect(shown).toEqual(image({ example: { header_handle: [expect.stringMatching(/^https:/)] } }));
    expect(said(await edit(id, { components: [shown, body('Written back beside another text.')] }))).toEqual(changed);
    expect(await uploads()).toBe(before + 2);
    await platform(`POST /_control/templates/${reply.body.id}`, { status: 'REJECTED' });
    const other = image({ example: { header_handle: ['https://127.0.0.1/x.png'] } });
    const { text } = await edit(id, { components: [other, body('One more text.')] });
    expect(text).toContain('components[0].example.header_handle');
    expect(text).not.toContain('header_source');
  });
});

describe('refusals: the template stays as it is', () => {
  /** An edit also reads the platform's current state of the template. */
  const kept = async (name: string) => {
    const { platform_template, ...entry } = await listedTemplate(1001, name);
    return { ...entry, platform_template: { ...platform_template, quality_score: undefined } };
  };

  test('of our own, with the platform not told', async () => {
    const what = await template('REVIEW_NOW');
    const before = await kept(what.name);
    const faulty = [{ ...footer, text: 'x'.repeat(61) }, body('{{1}} {{3}}')];
    const gap = 'components[1].text: variables must be numbered from {{1}} without a gap, {{2}} is missing';
    const inText = ['components[1].text', 'components[1].text', 'components[1].text', 'components[1].text'];
    for (const [request, message, at] of [
      [
        { category: 'MARKETING', components: [plainBody] },
        'the category of an APPROVED template cannot be changed',
        ['category'],
      ],
      [{}, 'components is required', ['components']],
      [{ components: faulty }, gap, [...inText, 'components[1].example.body_text', 'components[0].text']],
    ] as const) {
      const reply = await edit(what.id, request);
      expect([reply.status, reply.body.code, reply.body.message]).toEqual([400, 'invalid_request', message]);
      expect(reply.body.errors.map(({ path }: { path: string }) => path)).toEqual(at);
    }
    expect(await edit(what.id, '{')).toMatchObject({ status: 400, body: { code: 'malformed_body' } });
    expect(await editsOf(what)).toBe(0);
    expect(await kept(what.name)).toEqual(before);
  });

  test('a template that is not there: 404, also one of another WABA', async () => {
    const { id } = await template('REVIEW_NOW');
    await synchronize('supervisor1002');
    const { data } = (
      await api('GET /v1/templates?client_id=1002&name=appointment_reminder', { token: await tokenOf('operator') })
    ).body;
    const others = ['x', `${id}9`, id.toUpperCase(), 'aaaaaaaaaaaaaaaa-rt-0', 'x'.repeat(3_000)];
    for (const unknown of [...others, data[0].id]) {
      const reply = await edit(unknown, { components: [plainBody] });
      expect(said(reply)).toEqual([404, { code: 'template_not_found', message: 'template not found' }]);
    }
  });

  test('of the platform, in its words', async () => {
    const { id, name } = await template('REVIEW_NEVER');
    const before = await kept(name);
    expect(before).toMatchObject({ platform_template: { status: 'PENDING' } });
    const message = "A template that is PENDING can't be edited";
    expect(said(await edit(id, { components: [plainBody] }))).toEqual([
      400,
      { code: 'platform_refused', message, platform_code: 100 },
    ]);
    expect(await kept(name)).toEqual(before);
  });

  test.each([
    ['is down', { drop: 'before' }, 502, 'platform_unreachable', null],
    ['limits the rate', { code: 80_008 }, 429, 'platform_rate_limited', '60'],
  ])('the platform %s', async (_, action, status, code, retryAfter) => {
    const { id, name, platformId } = await template('REVIEW_NOW');
    const before = await kept(name);
    await platform('POST /_control/faults', { match: { path: platformId }, action });
    const reply = await edit(id, { components: [plainBody] });
    expect([reply.status, reply.body.code, reply.headers.get('retry-after')]).toEqual([status, code, retryAfter]);
    expect(await kept(name)).toEqual(before);
  });
});
