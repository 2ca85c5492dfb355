import { expect, test } from 'vitest';
import { type ApiReply, api, type DemoUser, tokenOf } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { clients } from '../support/demo.ts';
import { runningTarget } from '../support/running-target.ts';
import { create, createdTemplate, listedTemplate, sharedDid, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const recipient = '549_740_000_001'.replaceAll('_', '');

async function call(
  route: string,
  more: { body?: unknown; headers?: Record<string, string> } = {},
  user: DemoUser = 'supervisor1001',
): Promise<ApiReply> {
  return api(route, { token: await tokenOf(user), ...more });
}

test('after a login, a creation, a deletion and cancels the audit says who did it, also for another client, and nothing about recipients', async () => {
  const body = { username: 'supervisor1001', password: 'demo-supervisor1001' };
  expect(await api('POST /login', { body })).toMatchObject({ status: 200 });

  const draft = probes.draft();
  const created = await create(draft);
  expect(created.status).toBe(200);
  const { id } = await listedTemplate(clients.andes, draft.name);
  const switched = await call('PATCH /v1/templates/status', { body: { action: 'disable', templates: [id] } });
  expect(switched.body.summary).toMatchObject({ succeeded: 1 });
  expect((await call(`DELETE /v1/templates/${sharedDid}/${id}`)).status).toBe(200);
  expect((await call(`DELETE /v1/templates/${sharedDid}/${id}`)).status).toBe(404);

  const send = {
    ...{ did: sharedDid, type: 'template', channel: 'MESSAGING', campaignId: 10 },
    template: { name: 'order_update', language: 'en_US' },
    recipients: [{ to: recipient, params: { body: ['Ana', 'A-1'], buttons: ['A-1'] } }],
  };
  const headers = { 'Send-At': new Date(Date.now() + 86_400_000).toISOString() };
  const sent = async () => {
    const reply = await call(`POST /v1/template/messages/${sharedDid}`, { body: send, headers });
    expect(reply).toMatchObject({ status: 200 });
    return reply.headers.get('dispatch-id') ?? '';
  };
  const dispatchId = await sent();
  await sent();
  expect((await call(`DELETE /v1/template/messages/${sharedDid}/${dispatchId}`)).status).toBe(200);
  const cancelled = await call('DELETE /v1/dispatches?campaign_id=10');
  expect(cancelled.body.cancelled).toBeGreaterThanOrEqual(1);

  const ofAndes = `client_id=${clients.andes}`;
  const [other, otherDispatch] = [await createdTemplate(probes.draft()), await sent()];
  const disable = { body: { action: 'disable', templates: [other.id] } };
  const disabled = await call(`PATCH /v1/templates/status?${ofAndes}`, disable, 'operator');
  expect(disabled.body.summary).toMatchObject({ succeeded: 1 });
  const otherPath = `/v1/template/messages/${sharedDid}/${otherDispatch}?${ofAndes}`;
  expect((await call(`DELETE ${otherPath}`, {}, 'operator')).status).toBe(200);

  expect((await call(`PUT /v1/opt-outs/${recipient}`)).status).toBe(200);
  expect((await call(`DELETE /v1/opt-outs/${recipient}`)).status).toBe(200);

  const found = await auditLinesOf(runningTarget(), clients.andes);
  const by = { whose: clients.andes, who: 'supervisor1001', outcome: 'done' };
  const byOther = { ...by, who: 'operator', ofClientId: clients.operator };
  const documentIds = [id];
  const { wabaId } = found.find(({ what }) => what === 'template.created')?.on ?? {};
  for (const line of [
    { ...by, what: 'login', on: {} },
    { ...by, what: 'template.created', on: { wabaId, templateId: created.body.id } },
    { ...by, what: 'template.disabled', on: { documentIds } },
    { ...by, what: 'template.deleted', on: { wabaId, documentIds } },
    { ...by, what: 'dispatch.cancelled', on: { did: sharedDid, dispatchId } },
    { ...by, what: 'campaign.cancelled', on: { campaignId: 10, count: cancelled.body.cancelled } },
    { ...byOther, what: 'template.disabled', on: { documentIds: [other.id] } },
    { ...byOther, what: 'dispatch.cancelled', on: { did: sharedDid, dispatchId: otherDispatch } },
    { ...by, what: 'opt_out.stopped', on: { count: 1 } },
    { ...by, what: 'opt_out.lifted', on: { count: 1 } },
  ]) {
    expect(found).toContainEqual(expect.objectContaining(line));
  }
  expect(wabaId).toMatch(/^\d+$/);
  // The refused deletion changed nothing, so the audit has one line.
  expect(found.filter(({ what, on }) => what === 'template.deleted' && on.documentIds?.includes(id))).toHaveLength(1);
  expect(JSON.stringify(found)).not.toContain(recipient);
  expect(JSON.stringify(found)).not.toContain(draft.name);
});
