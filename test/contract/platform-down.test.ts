import { randomUUID } from 'node:crypto';
import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { lookupKey } from '../../lib/messages/dispatch/items.ts';
import { factKey } from '../../lib/templates/model/items.ts';
import { templateKey } from '../../lib/templates/model/template-key.ts';
import { type ApiReply, eventually, platform, synchronize } from '../support/api.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { expectRefusal } from '../support/expected-refusal.ts';
import { forgottenTemplate } from '../support/forgotten-template.ts';
import { runningTarget } from '../support/running-target.ts';
import { asSupervisor, bodyTo, orderDid as did, orderParams } from '../support/sends.ts';
import {
  create,
  createdTemplate,
  type Draft,
  edit,
  listedTemplate,
  plainBody,
  templateProbes,
} from '../support/template-probes.ts';

/*
 * Every route that asks the platform while its caller waits meets every way in which the platform can fail (D7, D23).
 * What each failure means is told by test/lib/platform/refusals.test.ts.
 */

const target = runningTarget();
const forgotten = `forgotten_${randomUUID().replaceAll('-', '_')}`;
const probes = templateProbes();
const drafts: Draft[] = [];
let recipient = 549_520_000_000;
let existing: Awaited<ReturnType<typeof createdTemplate>>;
let forgottenId = '';

beforeAll(async () => {
  await synchronize('supervisor1001');
  const components = [{ type: 'BODY', text: 'Your order REVIEW_NOW is ready.' }];
  existing = await createdTemplate(probes.draft({ components }));
  forgottenId = await forgottenTemplate(target, forgotten);
});
afterEach(async () => {
  await platform('DELETE /_control/faults');
});
afterAll(() => eraseTemplate(target, forgotten));

const send = (name = 'order_update') =>
  asSupervisor(`POST /v1/template/messages/${did}`, {
    body: bodyTo([String(++recipient)], { of: { template: { name, language: 'en_US' }, params: orderParams } }),
  });
let names = 0;
/** Each name is new, because the service remembers a 404 for 10 s (D23). */
const sendUnknown = () => send(`never_stored_${++names}`);

const routes: Readonly<Record<string, () => Promise<ApiReply>>> = {
  'messages-send': sendUnknown,
  'templates-sync': () =>
    // A refused synchronization has released its lease, so each may start.
    eventually('the lock is free', async () => {
      const reply = await asSupervisor('POST /v1/templates/sync-from-platform');
      return reply.status === 409 ? undefined : reply;
    }),
  'templates-create': () => {
    drafts.push(probes.draft());
    return create(drafts.at(-1));
  },
  'templates-edit': () => edit(existing.id, { components: [plainBody] }),
  'templates-delete': () => asSupervisor(`DELETE /v1/templates/${did}/${forgottenId}`),
  'catalog-products-list': () => asSupervisor(`GET /v1/catalogs/${did}/products?catalog_id=600000000000001`),
};

describe.each([
  ['closes the connection', { drop: 'before' }, 502, 'platform_unreachable', undefined],
  ['answers with a page', { html: true }, 502, 'platform_unreachable', undefined],
  ['refuses our credential', { code: 190 }, 502, 'platform_unreachable', undefined],
  ['limits the rate', { code: 80_008 }, 429, 'platform_rate_limited', 80_008],
  ['refuses what is asked', { code: 100 }, 400, 'platform_refused', 100],
] as const)('the platform %s', (_, action, status, code, platformCode) => {
  test.each(Object.keys(routes))(`%s: ${status}`, async (route) => {
    for (const path of ['message_templates', '/products', existing.platformId]) {
      await platform('POST /_control/faults', { match: { path }, action });
    }
    const reply = (await routes[route]?.()) as ApiReply;
    expectRefusal(reply, status, code);
    expect(reply.body.platform_code).toBe(platformCode);
    expect(Number(reply.headers.get('retry-after')) > 0).toBe(status === 429);
  });
});

test('nothing of it was stored, and once the platform answers the next request is taken', async () => {
  expect(drafts.length).toBeGreaterThan(4);
  for (const { name } of drafts) expect(await listedTemplate(1001, name)).toBeUndefined();
  expect(await listedTemplate(1001, existing.name)).toMatchObject({ platform_template: { status: 'APPROVED' } });
  expect(await listedTemplate(1001, forgotten)).toMatchObject({ id: forgottenId });
  expect((await create(drafts[0])).status).toBe(200);
  expect(await sendUnknown()).toMatchObject({ status: 404 });
});

test('does not answer in time: 502', async () => {
  await platform('POST /_control/faults', {
    match: { path: 'message_templates' },
    action: { delay_ms: 30_000, drop: 'before' },
  });
  expectRefusal(await sendUnknown(), 502, 'platform_unreachable');
});

test('a stored copy that has grown old is used, and the answer says so', async () => {
  const key = templateKey({ wabaId: '200000000000001', name: 'order_update', language: 'en_US' });
  await target.documentClient.send(
    new UpdateCommand({
      TableName: target.tableName('templates'),
      Key: factKey(key),
      UpdateExpression: 'SET readAtMs = readAtMs - :sixMinutes',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':sixMinutes': 360_000 },
    }),
  );
  await platform('POST /_control/faults', { match: { path: 'message_templates' }, action: { drop: 'before' } });
  const warned = await send();
  expect(warned).toMatchObject({ status: 200, body: { success: true, warning: expect.stringContaining('stored') } });
  await platform('DELETE /_control/faults');
  // The service asks the platform once in 10 s, and answers from the copy until then.
  expect(await send()).toMatchObject({ status: 200, body: warned.body });
  // Deleting the question ends the 10 s for the tests that send next.
  const Key = lookupKey(`renewal ${key}`);
  await target.documentClient.send(new DeleteCommand({ TableName: target.tableName('messages'), Key }));
  expect(await send()).toMatchObject({ status: 200, text: '{"success":true}' });
});
