import { expect, test } from 'vitest';
import { platform } from '../support/api.ts';
import { filePart, formBody, templatePart } from '../support/multipart.ts';
import { boundaryIs, postForm, templateField } from '../support/template-forms.ts';
import { created, edit, listedTemplate, plainBody, said, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const image = (more: object = {}) => ({ type: 'HEADER', format: 'IMAGE', ...more });
const uploads = async () => (await platform('GET /_control/requests?path=uploads&limit=0')).body.total as number;

test('media by a form: created, edited, and left alone when nothing is new (D18, D20)', async () => {
  const { name, ...draft } = probes.draft();
  const reply = await postForm([templateField(probes, { ...draft, name, components: [image(), plainBody] }), filePart]);
  expect(reply).toMatchObject(created);
  await platform(`POST /_control/templates/${reply.body.id}`, { status: 'APPROVED' });
  const { id, platform_template: stored } = await listedTemplate(1001, name);

  const before = await uploads();
  const same = await edit(id, { components: stored.components });
  expect(same).toMatchObject({ status: 200, body: { success: true, changed: false } });
  expect(await uploads()).toBe(before);

  const content = JSON.stringify({ components: [image(), plainBody] });
  const form = formBody([{ ...templatePart, content }, filePart], '--a form_1.0');
  const edited = await edit(id, form, { headers: boundaryIs('"--a form_1.0"') });
  expect(said(edited)).toEqual([200, { success: true, changed: true }]);
  expect(await uploads()).toBe(before + 1);

  const refused = await edit(id, { components: [image({ header_source: 'https://127.0.0.1/x.png' }), plainBody] });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(await uploads()).toBe(before + 1);
});
