import { expect, test } from 'vitest';
import { api, as, type DemoUser, loginOf } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { clients } from '../support/demo.ts';
import { runningTarget } from '../support/running-target.ts';
import { dispatchTo } from '../support/sends.ts';
import { create, createdTemplate, listedTemplate, sharedDid, templateProbes } from '../support/template-probes.ts';

const probes = templateProbes();
const recipient = '549_740_000_001'.replaceAll('_', '');

const call = (route: string, body?: unknown, user: DemoUser = 'supervisor1001') => as(user, route, body);

test('after a login, a creation, a deletion and cancels the audit says who did it, also for another client, and nothing about recipients', async () => {
  expect(await api('POST /login', { body: loginOf('supervisor1001') })).toMatchObject({ status: 200 });

  const draft = probes.draft();
  const created = await create(draft);
  expect(created.status).toBe(200);
  const { id } = await listedTemplate(clients.andes, draft.name);
  const switched = await call('PATCH /v1/templates/status', { action: 'disable', templates: [id] });
  expect(switched.body.summary).toMatchObject({ succeeded: 1 });
  expect((await call(`DELETE /v1/templates/${sharedDid}/${id}`)).status).toBe(200);
  expect((await call(`DELETE /v1/templates/${sharedDid}/${id}`)).status).toBe(404);

  const headers = { 'Send-At': new Date(Date.now() + 86_400_000).toISOString() };
  const sent = () => dispatchTo([recipient], { headers, more: { campaignId: 10 } });
  const dispatchId = await sent();
  await sent();
  expect((await call(`DELETE /v1/template/messages/${sharedDid}/${dispatchId}`)).status).toBe(200);
  const cancelled = await call('DELETE /v1/dispatches?campaign_id=10');
  expect(cancelled.body.cancelled).toBeGreaterThanOrEqual(1);

  const ofAndes = `client_id=${clients.andes}`;
  const [other, otherDispatch] = [await createdTemplate(probes.draft()), await sent()];
  const disable = { action: 'disable', templates: [other.id] };
  const disabled = await call(`PATCH /v1/templates/status?${ofAndes}`, disable, 'operator');
  expect(disabled.body.summary).toMatchObject({ succeeded: 1 });
  const otherPath = `/v1/template/messages/${sharedDid}/${otherDispatch}?${ofAndes}`;
  expect((await call(`DELETE ${otherPath}`, undefined, 'operator')).status).toBe(200);

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
