import { describe, expect, test } from 'vitest';
import { type ApiReply, api, type DemoUser, tokenOf } from '../support/api.ts';
import { createdTemplate, listedTemplate, templateProbes } from '../support/template-probes.ts';

/*
 * What the tests of the two groups of routes by themselves cannot show: in which order reasons are looked for (D17), and
 * what an assignment keeps (D14), on templates of this file's own.
 */

const probes = templateProbes();

async function call(user: DemoUser, route: string, body?: unknown): Promise<ApiReply> {
  return api(route, { token: await tokenOf(user), ...(body === undefined ? {} : { body }) });
}
const pair = (channel_id: number, campaign_id: number) => ({ channel_id, campaign_id });
const template = (word: 'REVIEW_NOW' | 'REVIEW_NEVER', changes = {}) =>
  createdTemplate(probes.draft({ components: [{ type: 'BODY', text: `Your order ${word} is ready.` }], ...changes }));
const assigned = { channel_campaigns: pair(501, 10) };
const patch = (body: unknown, user: DemoUser = 'supervisor1001') => call(user, 'PATCH /v1/templates/status', body);
const outcomes = ({ body }: ApiReply) =>
  body.results.map((result: { success: boolean; reason?: string }) => (result.success ? 'success' : result.reason));

describe('PATCH status: the first reason that holds (D17)', () => {
  test('what is enabled is already_enabled, approved or not, assigned or not', async () => {
    const pending = await template('REVIEW_NEVER');
    expect(outcomes(await patch({ action: 'enable', templates: [pending.id] }))).toEqual(['already_enabled']);
  });

  test('template_not_approved, then channel_unassigned; disabling asks for neither', async () => {
    const [pending, approved, ready] = [
      await template('REVIEW_NEVER'),
      await template('REVIEW_NOW'),
      await template('REVIEW_NOW', assigned),
    ];
    const templates = [pending.id, approved.id, ready.id];
    expect(outcomes(await patch({ action: 'disable', templates }))).toEqual(['success', 'success', 'success']);
    expect(outcomes(await patch({ action: 'disable', templates }))).toEqual(Array(3).fill('already_disabled'));
    const enabled = await patch({ action: 'enable', templates });
    expect(outcomes(enabled)).toEqual(['template_not_approved', 'channel_unassigned', 'success']);
    expect(enabled.body.summary).toEqual({ total: 3, succeeded: 1, skipped: 0, failed: 2 });
    expect(await listedTemplate(1001, ready.name)).toMatchObject({ active: true });
    expect(await listedTemplate(1001, approved.name)).toMatchObject({ active: false });
  });

  test('not_found and forbidden before all others; every item has its own action', async () => {
    const { id, name } = await template('REVIEW_NOW', assigned);
    const theirs = (await listedTemplate(1002, name)).id;
    const templates = [
      { id: 'x', action: 'disable' },
      { id: theirs, action: 'enable' },
      { id, action: 'disable' },
    ];
    const reply = await patch({ templates });
    expect([reply.status, outcomes(reply)]).toEqual([200, ['not_found', 'forbidden', 'success']]);
    expect(reply.body.results.map(({ action }: { action: string }) => action)).toEqual([
      'disable',
      'enable',
      'disable',
    ]);
  });

  test('two _ids of one template share its state: the second finds what the first has done', async () => {
    const { id } = await template('REVIEW_NOW', { channel_campaigns: [pair(501, 10), pair(501, 11)] });
    const { body } = await call('supervisor1001', `POST /v1/templates/${id}/channel-campaigns`, {
      channel_campaigns: [pair(501, 10), pair(501, 11)],
    });
    expect(body.ids[0]).toBe(id);
    expect(outcomes(await patch({ action: 'disable', templates: body.ids }))).toEqual(['success', 'already_disabled']);
  });
});

describe('channel-campaigns: what an assignment keeps (D14)', () => {
  const add = (id: string, channel_campaigns: unknown) =>
    call('supervisor1001', `POST /v1/templates/${id}/channel-campaigns`, { channel_campaigns });

  test('siblings share everything with the original, its inactive state too', async () => {
    const { id, name } = await template('REVIEW_NOW');
    await patch({ action: 'disable', templates: [id] });
    const before = await listedTemplate(1001, name);
    const { status, body } = await add(id, [pair(501, 10), pair(501, 11)]);
    expect([status, body.success, body.ids[0]]).toEqual([201, true, id]);
    const { channel_campaigns, ...after } = await listedTemplate(1001, name);
    expect({ ...after, channel_campaigns: [] }).toEqual(before);
    expect(channel_campaigns).toMatchObject([{ campaign_id: 10 }, { campaign_id: 11 }]);
  });

  test('a pair named twice is one document, named twice', async () => {
    const { id } = await template('REVIEW_NOW');
    const { body } = await add(id, [pair(501, 10), pair(501, 10)]);
    expect(new Set(body.ids)).toEqual(new Set([id]));
    const groups = (await call('supervisor1001', `GET /v1/templates/${id}/channel-campaigns-grouped`)).body;
    expect(groups).toMatchObject([{ campaign_id: 10, channels: [{ channel_id: 501 }] }]);
    expect(groups[0].channels).toHaveLength(1);
  });

  test('all pairs or none: one that the client does not have spoils the others', async () => {
    const { id, name } = await template('REVIEW_NOW', assigned);
    for (const method of ['POST', 'PUT']) {
      const channel_campaigns = [pair(501, 11), pair(502, 10)];
      const reply = await call('supervisor1001', `${method} /v1/templates/${id}/channel-campaigns`, {
        channel_campaigns,
      });
      expect([reply.status, reply.body.message]).toEqual([400, 'client 1001 has no channel 502']);
    }
    expect((await listedTemplate(1001, name)).channel_campaigns).toMatchObject([{ campaign_id: 10 }]);
    expect((await listedTemplate(1001, name)).channel_campaigns).toHaveLength(1);
  });
});
