import { describe, expect, test } from 'vitest';
import { as, type DemoUser, platform } from '../support/api.ts';
import { filePart } from '../support/multipart.ts';
import { endingsOf, outcomesOn, runningTarget } from '../support/running-target.ts';
import { type Sending, sendTo } from '../support/sends.ts';
import { postForm, templateField } from '../support/template-forms.ts';
import { create, edit, listedTemplate, plainBody, reviewAll, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const outcomes = outcomesOn(runningTarget());
let recipient = 549_710_000_000;
const newRecipient = () => String(++recipient);

const channels = (id: string, suffix = '') => `/v1/templates/${id}/channel-campaigns${suffix}`;
const groupsOf = async (user: DemoUser, id: string) => (await as(user, `GET ${channels(id, '-grouped')}`)).body;

const send = (name: string, to: string, sending: Sending = {}) =>
  sendTo([to], { ...sending, of: { template: { name, language: 'en_US' } } });

/** Sends, waits until the dispatch has ended, and returns the one message that the platform took for the recipient. */
async function delivered(name: string, sending: Sending = {}) {
  const to = newRecipient();
  const reply = await send(name, to, sending);
  expect([reply.status, reply.body]).toEqual([200, { success: true }]);
  const endings = await endingsOf(outcomes, reply.headers.get('dispatch-id') ?? '');
  expect(endings).toMatchObject([{ to, state: 'sent' }]);
  const { body } = await platform(`GET /_control/messages?to=${to}`);
  expect(body.total).toBe(1);
  return body.data[0];
}

describe('from creation to deletion, two clients on one WABA', () => {
  const draft = probes.draft({ channel_campaigns: { channel_id: 501, campaign_id: 10 } });
  const { name } = draft;
  let [own, theirs] = ['', ''];

  test('created: PENDING for both, assigned for the creator, not to be sent', async () => {
    expect(await create(draft)).toMatchObject({ status: 200, body: { status: 'PENDING' } });
    const [first, second] = [await listedTemplate(1001, name), await listedTemplate(1002, name)];
    [own, theirs] = [first.id, second.id];
    expect(first).toMatchObject({ platform_template: { status: 'PENDING' }, channel_campaigns: [{ campaign_id: 10 }] });
    expect(second).toMatchObject({ platform_template: { status: 'PENDING' }, channel_campaigns: [] });
    expect(own).not.toBe(theirs);
    expect(await send(name, newRecipient())).toMatchObject({ status: 422, body: { code: 'template_not_sendable' } });
  });

  test('assigned by the other client, which changes nothing for the first, and cannot enable what is not approved', async () => {
    const channel_campaigns = [{ channel_id: 502, campaign_id: 20 }];
    expect(await as('supervisor1002', `POST ${channels(theirs)}`, { channel_campaigns })).toMatchObject({
      status: 201,
      body: { ids: [theirs] },
    });
    const off = await as('supervisor1002', 'PATCH /v1/templates/status', { action: 'disable', templates: [theirs] });
    expect(off.body.summary).toMatchObject({ succeeded: 1 });
    const on = await as('supervisor1002', 'PATCH /v1/templates/status', { action: 'enable', templates: [theirs] });
    expect(on.body.results).toMatchObject([{ success: false, reason: 'template_not_approved' }]);
    expect(await listedTemplate(1001, name)).toMatchObject({ active: true, channel_campaigns: [{ campaign_id: 10 }] });
    expect(await listedTemplate(1002, name)).toMatchObject({ active: false, channel_campaigns: [{ campaign_id: 20 }] });
  });

  test('reviewed and synchronized: APPROVED for both, what is local stays', async () => {
    await reviewAll();
    const local = (active: boolean, id: string, campaign_id: number) => ({
      id,
      active,
      channel_campaigns: [{ campaign_id }],
      platform_template: { status: 'APPROVED' },
    });
    expect(await listedTemplate(1001, name)).toMatchObject(local(true, own, 10));
    expect(await listedTemplate(1002, name)).toMatchObject(local(false, theirs, 20));
    const on = await as('supervisor1002', 'PATCH /v1/templates/status', { action: 'enable', templates: [theirs] });
    expect(on.body.results).toMatchObject([{ success: true, current_active: true }]);
  });

  test('sent by each: one message each', async () => {
    for (const sending of [{}, { user: 'supervisor1002', did: '5491100000002' }] as const) {
      const message = await delivered(name, sending);
      expect(message.request.template).toEqual({ name, language: { code: 'en_US' } });
    }
  });

  test('edited: PENDING again and not to be sent; reviewed, it is', async () => {
    const components = [{ type: 'BODY', text: 'Your parcel is ready.' }];
    expect((await edit(own, { components })).body).toEqual({ success: true, changed: true });
    expect((await send(name, newRecipient())).status).toBe(422);
    await reviewAll();
    expect(await listedTemplate(1002, name)).toMatchObject({ platform_template: { status: 'APPROVED', components } });
    await delivered(name);
    expect(await groupsOf('supervisor1001', own)).toMatchObject([{ campaign_id: 10 }]);
    expect(await groupsOf('supervisor1002', theirs)).toMatchObject([{ campaign_id: 20 }]);
  });

  test('deleted: nothing works with it any more, for either client', async () => {
    expect(await as('supervisor1002', `DELETE /v1/templates/5491100000002/${theirs}`)).toMatchObject({
      status: 200,
      body: { success: true },
    });
    const notFound = { status: 404, body: { code: 'template_not_found' } };
    const to = newRecipient();
    expect(await send(name, to)).toMatchObject({
      status: 404,
      body: { message: 'no template for the requested name/language' },
    });
    expect((await platform(`GET /_control/messages?to=${to}`)).body.total).toBe(0);
    for (const [user, id] of [
      ['supervisor1001', own],
      ['supervisor1002', theirs],
    ] as const) {
      expect(await as(user, `GET ${channels(id, '-grouped')}`)).toMatchObject(notFound);
      for (const method of ['POST', 'PUT'])
        expect(await as(user, `${method} ${channels(id)}`, {})).toMatchObject(notFound);
      expect(await as(user, `DELETE ${channels(id)}`)).toMatchObject(notFound);
      expect(await edit(id, { components: [plainBody] }, { user })).toMatchObject(notFound);
      const status = await as(user, 'PATCH /v1/templates/status', { action: 'disable', templates: [id] });
      expect(status.body.results).toMatchObject([{ success: false, reason: 'not_found' }]);
    }
    expect(await listedTemplate(1001, name, '&deleted=true')).toMatchObject({
      channel_campaigns: [{ campaign_id: 10 }],
    });
    expect(await listedTemplate(1002, name, '&deleted=true')).toMatchObject({
      channel_campaigns: [{ campaign_id: 20 }],
    });
  });
});

test('created with a picture by a form, reviewed and sent with another picture', async () => {
  const field = templateField(probes);
  const { name } = JSON.parse(String(field.content));
  expect(await postForm([field, filePart])).toMatchObject({ status: 200, body: { status: 'PENDING' } });
  await reviewAll();
  expect(await listedTemplate(1001, name)).toMatchObject({ platform_template: { status: 'APPROVED' } });
  const value = 'https://example.com/today.png';
  const message = await delivered(name, { more: { component: { header: { type: 'image_url', value } } } });
  expect(message.request.template.components).toEqual([
    { type: 'header', parameters: [{ type: 'image', image: { link: value } }] },
  ]);
});

test('rejected: the reason is listed, it cannot be sent, and edited it gets another chance', async () => {
  const draft = probes.draft({ components: [{ type: 'BODY', text: 'REJECT_PROMOTIONAL Your order is ready.' }] });
  expect((await create(draft)).status).toBe(200);
  await reviewAll();
  const rejected = await listedTemplate(1001, draft.name);
  expect(rejected.platform_template).toMatchObject({ status: 'REJECTED', rejected_reason: 'PROMOTIONAL' });
  expect((await send(draft.name, newRecipient())).status).toBe(422);
  expect((await edit(rejected.id, { components: [plainBody] })).body).toEqual({ success: true, changed: true });
  await reviewAll();
  await delivered(draft.name);
});
