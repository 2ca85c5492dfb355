import { describe, expect, test } from 'vitest';
import { platform } from '../support/api.ts';
import {
  create,
  createdTemplate,
  listedTemplate,
  remove,
  reviewAll,
  said,
  sharedWaba,
  templateProbes,
} from '../support/template-probes.ts';

/*
 * What is true at the platform meanwhile is in test/functions/templates-delete.adapter.test.ts, how long a name is held
 * in test/lib/templates/create/create-template.adapter.test.ts, failures of the platform in
 * contract/platform-down.test.ts, two at once in test/lib/templates/races.adapter.test.ts.
 */

const probes = templateProbes();
const success = [200, { success: true }];
const notFound = [404, { code: 'template_not_found', message: 'template not found' }];
const draft = (word: 'REVIEW_NOW' | 'REVIEW_NEVER', changes = {}) =>
  probes.draft({ components: [{ type: 'BODY', text: `Your order ${word} is ready.` }], ...changes });
const removals = async (limit = 0) =>
  (await platform(`GET /_control/requests?method=DELETE&path=${sharedWaba}/message_templates&limit=${limit}`)).body;

/** The template must be listed as deleted for both clients of the WABA, and nowhere else. */
async function expectDeleted(name: string): Promise<void> {
  for (const clientId of [1001, 1002]) {
    expect(await listedTemplate(clientId, name, '&lang=en_US')).toBeUndefined();
    expect(await listedTemplate(clientId, name, '&deleted=true')).toMatchObject({ platform_template: { name } });
  }
}

describe('a deletion', () => {
  test('by name and id upstream, so that other languages stay; marked deleted for both clients; a repetition is 404 (D21)', async () => {
    const first = draft('REVIEW_NOW');
    const { id, name, platformId } = await createdTemplate(first);
    expect((await create(draft('REVIEW_NOW', { ...first, language: 'es' }))).status).toBe(200);
    expect(said(await remove(id))).toEqual(success);
    expect((await removals(1)).data[0].query).toEqual({ hsm_id: platformId, name });
    await expectDeleted(name);
    expect(said(await remove(id))).toEqual(notFound);
    await reviewAll();
    await expectDeleted(name);
    expect(await listedTemplate(1002, name)).toMatchObject({ platform_template: { language: 'es' } });
  });

  test('of what is gone upstream already, or whose answer was lost, by any document of the WABA (D12)', async () => {
    const gone = await createdTemplate(draft('REVIEW_NEVER'));
    await platform(`DELETE /_control/templates/${gone.platformId}`);
    const { id } = await listedTemplate(1002, gone.name);
    expect(said(await remove(id, { did: '5491100000002' }))).toEqual(success);
    await expectDeleted(gone.name);

    const lost = await createdTemplate(draft('REVIEW_NEVER'));
    const match = { method: 'DELETE', path: 'message_templates' };
    await platform('POST /_control/faults', { match, action: { drop: 'after' }, times: 1 });
    expect((await remove(lost.id)).status).toBe(502);
    expect(await listedTemplate(1001, lost.name)).toBeDefined();
    expect(said(await remove(lost.id))).toEqual(success);
    await expectDeleted(lost.name);
  });
});

describe('the name afterwards', () => {
  test('of an APPROVED template: not within 30 days, with the date (contract, Limits)', async () => {
    const approved = draft('REVIEW_NOW');
    const { id } = await createdTemplate(approved);
    expect(said(await remove(id))).toEqual(success);
    const { status, body } = await create(approved, { user: 'supervisor1002', did: '5491100000002' });
    expect([status, body]).toEqual([
      400,
      { code: 'invalid_request', message: body.message, errors: [{ path: 'name', message: body.message }] },
    ]);
    expect(body.message).toMatch(
      /^an approved template of this name was deleted; the name can be used again from \S+$/,
    );
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

test('a DISABLED template: 409, though it was stored as another, and the platform is not told', async () => {
  const { id, name, platformId } = await createdTemplate(draft('REVIEW_NOW'));
  await platform(`POST /_control/templates/${platformId}`, { status: 'DISABLED' });
  const { total } = await removals();
  const refused = [409, { code: 'template_disabled', message: 'a DISABLED template cannot be deleted' }];
  expect(said(await remove(id))).toEqual(refused);
  expect((await removals()).total).toBe(total);
  expect(await listedTemplate(1002, name)).toBeDefined();
});

test('a template that is not there: 404', async () => {
  for (const unknown of ['x', 'aaaaaaaaaaaaaaaa-rt-0', '../status', 'x'.repeat(3_000)]) {
    expect(said(await remove(unknown))).toEqual(notFound);
  }
});
