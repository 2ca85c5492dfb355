import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { type ApiReply, type ApiRequest, api, platform, tokenOf } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { filePart, formBody, templatePart } from '../support/multipart.ts';
import { runningTarget } from '../support/running-target.ts';

const did = '5491100000001';
const name = `pictured_${randomUUID().replaceAll('-', '_')}`;
const text = { type: 'BODY', text: 'Your order is ready to be picked up.' };
const image = (more: object = {}) => ({ type: 'HEADER', format: 'IMAGE', ...more });
let platformId = '';

afterAll(async () => {
  await platform(`DELETE /_control/templates/${platformId}`);
  await eraseTemplate(runningTarget(), name);
});

async function asSupervisor(route: string, request: ApiRequest = {}): Promise<ApiReply> {
  return api(route, { token: await tokenOf('supervisor1001'), ...request });
}

function form(template: object): ApiRequest {
  const headers = { 'content-type': 'multipart/form-data; boundary="--a form_1.0"' };
  return {
    headers,
    body: formBody([{ ...templatePart, content: JSON.stringify(template) }, filePart], '--a form_1.0'),
  };
}

const approved = () => platform(`POST /_control/templates/${platformId}`, { status: 'APPROVED' });
const uploads = async () => (await platform('GET /_control/requests?path=uploads&limit=0')).body.total as number;

test('media by a form: created, edited, and left alone when nothing is new (D18, D20)', async () => {
  const template = { name, language: 'en_US', category: 'UTILITY', components: [image(), text] };
  const created = await asSupervisor(`POST /v1/templates/${did}`, form(template));
  expect(created).toMatchObject({ status: 200, body: { status: 'PENDING', category: 'UTILITY' } });
  platformId = created.body.id;
  await approved();

  const listed = await asSupervisor(`GET /v1/templates?campaign_name=Unassigned&name=${name}`);
  const { id, platform_template: stored } = listed.body.data[0];
  const edit = (request: ApiRequest) => asSupervisor(`PUT /v1/templates/${did}/${id}`, request);

  const before = await uploads();
  const same = await edit({ body: { components: stored.components } });
  expect(same).toMatchObject({ status: 200, body: { success: true, changed: false } });
  expect(await uploads()).toBe(before);

  const edited = await edit(form({ components: [image(), text] }));
  expect(edited).toMatchObject({ status: 200, body: { success: true, changed: true } });
  expect(await uploads()).toBe(before + 1);

  const refused = await edit({ body: { components: [image({ header_source: 'https://127.0.0.1/x.png' }), text] } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  expect(await uploads()).toBe(before + 1);
});
