import { afterEach, describe, expect, test } from 'vitest';
import { api, platform, tokenOf } from '../support/api.ts';
import {
  type CreateOptions,
  create,
  createdTemplate,
  listedTemplate,
  reviewAll,
  said,
  sharedDid,
  sharedWaba,
  templateProbes,
} from '../support/template-probes.ts';

const probes = templateProbes();
afterEach(async () => {
  await platform('DELETE /_control/faults');
});

async function remove(id: string, { user = 'supervisor1001', did = sharedDid, query = '' }: CreateOptions = {}) {
  return api(`DELETE /v1/templates/${did}/${encodeURIComponent(id)}${query}`, { token: await tokenOf(user) });
}
const success = [200, { success: true }];
const notFound = [404, { code: 'template_not_found', message: 'template not found' }];
const draft = (word: 'REVIEW_NOW' | 'REVIEW_NEVER', changes = {}) =>
  probes.draft({ components: [{ type: 'BODY', text: `Your order ${word} is ready.` }], ...changes });
const removals = async (limit = 0) =>
  (await platform(`GET /_control/requests?method=DELETE&path=${sharedWaba}/message_templates&limit=${limit}`)).body;

/** The template must be listed as deleted for both clients of the WABA, and nowhere else. */
async function expectDeleted(name: string): Promise<void> {
  for (const clientId of [1001, 1002]) {
    expect(await listedTemplate(clientId, name)).toBeUndefined();
    expect(await listedTemplate(clientId, name, '&deleted=true')).toMatchObject({ platform_template: { name } });
  }
}

describe('a deletion', () => {
  test('by name and id upstream; marked deleted for both clients; a repetition is 404 (D21)', async () => {
    const { id, name, platformId } = await createdTemplate(draft('REVIEW_NOW'));
    const reply = await remove(id);
    expect(said(reply)).toEqual(success);
    expect(reply.text).toBe('{"success":true}');
    expect((await removals(1)).data[0].query).toEqual({ hsm_id: platformId, name });
    await expectDeleted(name);
    expect(said(await remove(id))).toEqual(notFound);
    await reviewAll();
    await expectDeleted(name);
  });

  test('any document of any client of the WABA names it (D12), on any DID of the WABA', async () => {
    const { name } = await createdTemplate(draft('REVIEW_NEVER'));
    const { id } = await listedTemplate(1002, name);
    expect(said(await remove(id, { did: '5491100000002' }))).toEqual(success);
    await expectDeleted(name);
  });

  test('other languages of the name stay', async () => {
    const first = draft('REVIEW_NOW');
    const { id, name } = await createdTemplate(first);
    expect((await create(draft('REVIEW_NOW', { ...first, language: 'es' }))).status).toBe(200);
    expect(said(await remove(id))).toEqual(success);
    await reviewAll();
    for (const clientId of [1001, 1002]) {
      expect(await listedTemplate(clientId, name, '&lang=en_US')).toBeUndefined();
      expect(await listedTemplate(clientId, name)).toMatchObject({ platform_template: { language: 'es' } });
    }
  });

  test('what is gone upstream already, or whose answer was lost, can be deleted', async () => {
    const gone = await createdTemplate(draft('REVIEW_NEVER'));
    await platform(`DELETE /_control/templates/${gone.platformId}`);
    expect(said(await remove(gone.id))).toEqual(success);
    await expectDeleted(gone.name);

    const lost = await createdTemplate(draft('REVIEW_NEVER'));
    await platform('POST /_control/faults', {
      match: { method: 'DELETE', path: 'message_templates' },
      action: { drop: 'after' },
      times: 1,
    });
    expect((await remove(lost.id)).status).toBe(502);
    expect(await listedTemplate(1001, lost.name)).toBeDefined();
    expect(said(await remove(lost.id))).toEqual(success);
    await expectDeleted(lost.name);
  });

  test('two at the same time', async () => {
    const { id, name } = await createdTemplate(draft('REVIEW_NOW'));
    const statuses = (await Promise.all([remove(id), remove(id)])).map(({ status }) => status);
    expect([200, 404]).toEqual(expect.arrayContaining(statuses));
    expect(statuses).toContain(200);
    await expectDeleted(name);
  });
});

describe('the name afterwards', () => {
  test('of an APPROVED template: not within 30 days, with the date (contract, Limits)', async () => {
    const approved = draft('REVIEW_NOW');
    const { id } = await createdTemplate(approved);
    const fromMs = Date.now();
    expect(said(await remove(id))).toEqual(success);
    const untilMs = Date.now();
    for (const options of [{}, { user: 'supervisor1002', did: '5491100000002' }] as const) {
      const { status, body } = await create(approved, options);
      const [, date = ''] =
        /^an approved template of this name was deleted; the name can be used again from (\S+)$/.exec(body.message) ??
        [];
      expect([status, body.code, body.errors]).toEqual([
        400,
        'invalid_request',
        [{ path: 'name', message: body.message }],
      ]);
      const deletedAtMs = Date.parse(date) - 30 * 24 * 3_600_000;
      expect(deletedAtMs).toBeGreaterThanOrEqual(fromMs);
      expect(deletedAtMs).toBeLessThanOrEqual(untilMs);
    }
    const other = draft('REVIEW_NOW', { ...approved, language: 'es' });
    expect(await create(other)).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/no other language has it; the name can be used again from \S+$/) },
    });
  });

  test('of an APPROVED template whose name another language still has: in a third language at once (D18)', async () => {
    const approved = draft('REVIEW_NOW');
    const inLanguage = (language: string) => create(draft('REVIEW_NOW', { ...approved, language }));
    const { id } = await createdTemplate(approved);
    expect((await inLanguage('fr')).status).toBe(200);
    expect(said(await remove(id))).toEqual(success);
    expect((await inLanguage('en_US')).status).toBe(400);
    expect((await inLanguage('es')).status).toBe(200);
  });

  test('of one that was never approved: at once; the deleted one stays listed, the new one has an id of its own', async () => {
    const pending = draft('REVIEW_NEVER');
    const first = await createdTemplate(pending);
    expect(said(await remove(first.id))).toEqual(success);
    const second = await createdTemplate(pending);
    expect(second.id).not.toBe(first.id);
    expect(await listedTemplate(1001, pending.name)).toMatchObject({ platform_template: { id: second.platformId } });
    expect(await listedTemplate(1001, pending.name, '&deleted=true')).toMatchObject({
      platform_template: { id: first.platformId },
    });
    expect(said(await remove(first.id))).toEqual(notFound);
    expect(await listedTemplate(1001, pending.name)).toMatchObject({ id: second.id });
  });
});

describe('refusals', () => {
  test('DISABLED: 409, and the platform is not asked', async () => {
    const { id, name, platformId } = await createdTemplate(draft('REVIEW_NOW'));
    await platform(`POST /_control/templates/${platformId}`, { status: 'DISABLED' });
    await reviewAll();
    const { total } = await removals();
    const refused = [409, { code: 'template_disabled', message: 'a DISABLED template cannot be deleted' }];
    expect(said(await remove(id))).toEqual(refused);
    expect((await removals()).total).toBe(total);
    expect(await listedTemplate(1001, name)).toMatchObject({ platform_template: { status: 'DISABLED' } });
  });

  test('disabled meanwhile: 409, though it was stored as another', async () => {
    const { id, name, platformId } = await createdTemplate(draft('REVIEW_NOW'));
    await platform(`POST /_control/templates/${platformId}`, { status: 'DISABLED' });
    const message = 'a DISABLED template cannot be deleted';
    expect(said(await remove(id))).toEqual([409, { code: 'template_disabled', message }]);
    expect(await listedTemplate(1002, name)).toBeDefined();
  });

  test('a template that is not there: 404', async () => {
    const { id } = await createdTemplate(draft('REVIEW_NEVER'));
    for (const unknown of ['x', `${id}9`, id.toUpperCase(), 'aaaaaaaaaaaaaaaa-rt-0', '../status', 'x'.repeat(3_000)]) {
      expect(said(await remove(unknown))).toEqual(notFound);
    }
  });

  test.each([
    ['is down', { drop: 'before' }, 502, 'platform_unreachable', null],
    ['limits the rate', { code: 80_007 }, 429, 'platform_rate_limited', '60'],
  ])('the platform %s: the template stays', async (_, action, status, code, retryAfter) => {
    const { id, name } = await createdTemplate(draft('REVIEW_NOW'));
    await platform('POST /_control/faults', { match: { path: 'message_templates' }, action });
    const reply = await remove(id);
    expect([reply.status, reply.body.code, reply.headers.get('retry-after')]).toEqual([status, code, retryAfter]);
    expect(await listedTemplate(1001, name)).toMatchObject({ platform_template: { status: 'APPROVED' } });
  });
});
