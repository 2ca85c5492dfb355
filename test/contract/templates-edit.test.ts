import { afterEach, describe, expect, test } from 'vitest';
import { platform } from '../support/api.ts';
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
 * Differences are in test/lib/templates/edit/, codes, media and races in test/functions/templates-edit*.adapter.test.ts,
 * failures of the platform in contract/platform-down.test.ts.
 */

const probes = templateProbes();
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

const changed = [200, { success: true, changed: true }];
const unchanged = [200, { success: true, changed: false, message: 'nothing differs from the template as it is' }];
const body = (text: string) => ({ type: 'BODY', text });
const footer = { type: 'FOOTER', text: 'Andes Retail' };

/** Creates a template that the platform approves or rejects at once. */
async function template(word: 'REVIEW_NOW' | 'REVIEW_NOW REJECT_SCAM', changes = {}) {
  const components = [body(`Your order ${word} is ready.`), footer];
  return { ...(await createdTemplate(probes.draft({ components, ...changes }))), components };
}
const editsOf = async ({ platformId }: { platformId: string }) =>
  (await platform(`GET /_control/requests?method=POST&path=/${platformId}&limit=0`)).body.total;

describe('an edit', () => {
  test('replaces the components, sets PENDING for both clients, and tells the platform nothing else', async () => {
    const { name, platformId } = await template('REVIEW_NOW');
    const components = [body('Your parcel is ready.')];
    // Any document of any client of the WABA names it (D12), on any DID of the WABA.
    const { id } = await listedTemplate(1002, name);
    expect(said(await edit(id, { components }, { did: '5491100000002' }))).toEqual(changed);
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

  test('changes the category of one that was rejected, and fields beside the components', async () => {
    const { id, name, platformId, components } = await template('REVIEW_NOW REJECT_SCAM');
    const beside = {
      optimization_spec: { bid_amount: 100, bid_strategy: 'LOWEST_COST_WITH_BID_CAP' },
      message_send_ttl_seconds: 86_400,
    };
    const request = { name: 'other_name', language: 'es', category: 'marketing', components, ...beside };
    expect(said(await edit(id, request))).toEqual(changed);
    expect(await lastSent(`/${platformId}`)).toEqual({ category: 'MARKETING', ...beside });
    const { platform_template: stored } = await listedTemplate(1001, name);
    expect(stored).toMatchObject({ name, language: 'en_US', category: 'MARKETING', status: 'PENDING' });
    expect(stored).not.toHaveProperty('rejected_reason');
  });

  test('that puts back what the listing shows tells the platform nothing', async () => {
    const buttons = [
      { type: 'QUICK_REPLY', text: 'Stop' },
      { type: 'URL', text: 'Track', url: 'https://example.com/{{1}}', example: ['A-1'] },
      { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+5491100000001' },
    ];
    const header = { type: 'HEADER', format: 'TEXT', text: 'News for {{1}}!', example: { header_text: ['Ana'] } };
    const text = { type: 'BODY', text: 'REVIEW_NOW Hi {{1}}, bye.', example: { body_text: ['Ana'] } };
    const components = [header, text, { type: 'BUTTONS', buttons }];
    const what = await createdTemplate(probes.draft({ components }));
    await reviewAll();
    const { platform_template: stored } = await listedTemplate(1001, what.name);
    expect(said(await edit(what.id, { components: stored.components }))).toEqual(unchanged);
    expect(said(await edit(what.id, { components: components.toReversed() }))).toEqual(unchanged);
    expect(await editsOf(what)).toBe(0);
  });

  test('takes new media by a form, and uploads nothing where nothing is new (D18)', async () => {
    const image = { type: 'HEADER', format: 'IMAGE' };
    const uploads = async () => (await platform('GET /_control/requests?path=uploads&limit=0')).body.total as number;
    const draft = probes.draft();
    const reply = await postForm([templateField(probes, { ...draft, components: [image, plainBody] }), filePart]);
    expect(reply).toMatchObject(created);
    await platform(`POST /_control/templates/${reply.body.id}`, { status: 'APPROVED' });
    const { id, platform_template: stored } = await listedTemplate(1001, draft.name);
    const before = await uploads();
    expect(said(await edit(id, { components: stored.components }))).toEqual(unchanged);
    const content = JSON.stringify({ components: [image, plainBody] });
    const form = formBody([{ ...templatePart, content }, filePart], '--a form_1.0');
    expect(said(await edit(id, form, { headers: boundaryIs('"--a form_1.0"') }))).toEqual(changed);
    expect(await uploads()).toBe(before + 1);
  });
});

test('what is refused leaves the template as it is, and the platform is not told', async () => {
  const what = await template('REVIEW_NOW');
  /** An edit also reads the platform's current state of the template. */
  const kept = async () => {
    const { platform_template, ...entry } = await listedTemplate(1001, what.name);
    return { ...entry, platform_template: { ...platform_template, quality_score: undefined } };
  };
  const before = await kept();
  const faulty = [{ ...footer, text: 'x'.repeat(61) }, body('{{1}} {{3}}')];
  const gap = 'components[1].text: variables must be numbered from {{1}} without a gap, {{2}} is missing';
  for (const [request, message] of [
    [{ category: 'MARKETING', components: [plainBody] }, 'the category of an APPROVED template cannot be changed'],
    [{}, 'components is required'],
    [{ components: faulty }, gap],
  ] as const) {
    const reply = await edit(what.id, request);
    expect([reply.status, reply.body.code, reply.body.message]).toEqual([400, 'invalid_request', message]);
  }
  for (const unknown of [`${what.id}9`, what.id.toUpperCase(), 'aaaaaaaaaaaaaaaa-rt-0', 'x'.repeat(3_000)]) {
    const reply = await edit(unknown, { components: [plainBody] });
    expect(said(reply)).toEqual([404, { code: 'template_not_found', message: 'template not found' }]);
  }
  expect(await editsOf(what)).toBe(0);
  expect(await kept()).toEqual(before);
});
