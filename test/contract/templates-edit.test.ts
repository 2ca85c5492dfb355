import { afterEach, describe, expect, test } from 'vitest';
import { platform } from '../support/api.ts';
import {
  createdTemplate,
  edit,
  lastSent,
  listedTemplate,
  reviewAll,
  said,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const changed = [200, { success: true, changed: true }];
const unchanged = [200, { success: true, changed: false, message: 'nothing differs from the template as it is' }];
const body = (text: string) => ({ type: 'BODY', text });
const footer = { type: 'FOOTER', text: 'Andes Retail' };

/** A template of its own that the platform has approved, rejected or not yet seen. */
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

  test('optimization_spec', async () => {
    const spec = { bid_amount: 100, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' };
    const { id, platformId, components } = await template('REVIEW_NOW', {
      category: 'MARKETING',
      optimization_spec: spec,
    });
    expect(said(await edit(id, { components, optimization_spec: spec }))).toEqual(unchanged);
    const dearer = { ...spec, bid_amount: 150 };
    expect(said(await edit(id, { components, optimization_spec: dearer }))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ optimization_spec: dearer });
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

  test('fields beside the components', async () => {
    const { id, platformId, components } = await template('REVIEW_NOW', { message_send_ttl_seconds: 60 });
    expect(said(await edit(id, { components, message_send_ttl_seconds: 60 }))).toEqual(unchanged);
    expect(said(await edit(id, { components, message_send_ttl_seconds: 90 }))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ message_send_ttl_seconds: 90 });
    const refusals = [
      { components, country: 'AR' },
      { components, message_send_ttl_seconds: 1 },
      { optimization_spec: {} },
    ];
    for (const request of refusals) expect((await edit(id, request)).status).toBe(400);
  });
});

describe('an edit that changes nothing asks the platform nothing (D20)', () => {
  test('the same components, in another order and other letters, whatever the status', async () => {
    for (const word of ['REVIEW_NOW', 'REVIEW_NEVER'] as const) {
      const what = await template(word);
      const [first, second] = what.components;
      const same = [
        what.components,
        [second, first],
        [
          { text: first?.text, type: 'body' },
          { ...second, type: 'Footer' },
        ],
      ];
      for (const components of same) expect(said(await edit(what.id, { components }))).toEqual(unchanged);
      const { name, components } = what;
      expect(said(await edit(what.id, { name, components, category: 'utility' }))).toEqual(unchanged);
      expect(await editsOf(what)).toBe(0);
    }
  });

  test('what the listing shows can be put back as it is', async () => {
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
    const { id, name } = await createdTemplate(probes.draft({ components }));
    for (const read of [async () => undefined, reviewAll]) {
      await read();
      const { platform_template: stored } = await listedTemplate(1001, name);
      expect(said(await edit(id, { components: stored.components }))).toEqual(unchanged);
    }
  });

  test.each<[string, string, unknown[]]>([
    [
      'a FLOW button',
      'MARKETING',
      [
        { type: 'BODY', text: 'REVIEW_NOW Tell us more.' },
        {
          type: 'BUTTONS',
          buttons: [{ type: 'FLOW', text: 'Start', flow_id: '123', flow_action: 'navigate', navigate_screen: 'ONE' }],
        },
      ],
    ],
    [
      'an OTP button, which the platform rewrites as a URL',
      'AUTHENTICATION',
      [
        { type: 'BODY' },
        { type: 'FOOTER', code_expiration_minutes: 10 },
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
      ],
    ],
  ])('%s, as it was asked for', async (_, category, components) => {
    const what = await createdTemplate(probes.draft({ category, components }));
    for (const read of [async () => undefined, reviewAll]) {
      await read();
      expect(said(await edit(what.id, { components }))).toEqual(unchanged);
    }
    const { platform_template: stored } = await listedTemplate(1001, what.name);
    if (category !== 'AUTHENTICATION')
      expect(said(await edit(what.id, { components: stored.components }))).toEqual(unchanged);
    expect(await editsOf(what)).toBe(0);
  });
});
