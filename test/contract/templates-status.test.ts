import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { rowKey } from '../../lib/templates/model/items.ts';
import { parseDocumentId } from '../../lib/templates/model/template-key.ts';
import { as, type DemoUser, synchronize } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { campaigns, channels, clients } from '../support/demo.ts';
import { rows } from '../support/rows.ts';
import { runningTarget } from '../support/running-target.ts';

/*
 * Reasons and repetitions are in test/lib/templates/status/bulk-status.test.ts, races in set-status.adapter.test.ts
 * beside it, whose templates they are in contract/tenancy/.
 */

const { documentClient, tableName } = runningTarget();

/** Client 1001 has `own` and `second`, client 1002 has `theirs` on the same WABA. */
let [own, second, theirs] = ['', '', ''];

const patch = (user: DemoUser, body: unknown) => as(user, 'PATCH /v1/templates/status', body);
const listed = async (clientId: number, query: string) =>
  (await as('operator', `GET /v1/templates?client_id=${clientId}&size=100&${query}`)).body;

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  const idOf = async (clientId: number, query: string) => (await listed(clientId, query)).data[0].id;
  own = await idOf(clients.andes, 'name=order_update');
  theirs = await idOf(clients.boreal, 'name=order_update');
  second = await idOf(clients.andes, 'state=APPROVED&category=AUTHENTICATION');
});

async function assign(id: string, pairs: string, active = true): Promise<void> {
  const address = parseDocumentId(id);
  if (address === undefined) throw new Error(`${id} is no document id`);
  await documentClient.send(
    new UpdateCommand({
      TableName: tableName('templates'),
      Key: rowKey(address.clientId, address.templateKey),
      UpdateExpression: 'SET d = :documents, a = :active',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':documents': `${address.sequence}${pairs}`, ':active': active },
    }),
  );
}

/** Other tests expect the demo templates active and unassigned, as they are seeded. */
afterEach(async () => {
  for (const id of [own, second]) await assign(id, '');
});

test('one call answers every item in order with a summary; the listing shows it, and the audit', async () => {
  await assign(second, `:${channels.andes}:${campaigns.collections}`, false);
  const items = [own, { id: second, action: 'enable' }, 'x', theirs, theirs];
  const reply = await patch('supervisor1001', { action: 'disable', templates: items });
  const switched = (id: string, action: string, active: boolean) => ({
    ...{ id, action, success: true, skipped: false, previous_active: !active, current_active: active },
  });
  const refused = (id: string, reason: string, skipped = false) => ({
    ...{ id, action: 'disable', success: false, skipped, reason },
  });
  expect([reply.status, reply.body]).toEqual([
    200,
    {
      results: [
        ...[switched(own, 'disable', false), switched(second, 'enable', true), refused('x', 'not_found')],
        ...[refused(theirs, 'forbidden'), refused(theirs, 'duplicate_request', true)],
      ],
      summary: { total: 5, succeeded: 2, skipped: 1, failed: 2 },
    },
  ]);
  expect((await listed(clients.andes, 'active=false')).data).toMatchObject([{ id: own, active: false }]);
  expect((await listed(clients.boreal, 'active=false')).total).toBe(0);
  const lines = (await auditLinesOf(runningTarget(), clients.andes)).slice(-2);
  // On a deployed stage the user has a name of its own.
  const user = expect.stringMatching(/supervisor1001$/);
  expect(lines.map(({ who, what, on }) => [who, what, on]).sort()).toEqual([
    [user, 'template.disabled', { documentIds: [own] }],
    [user, 'template.enabled', { documentIds: [second] }],
  ]);
});

test('1,000 items are taken', async () => {
  const templates = Array.from({ length: 1_000 }, (_, index) => `unknown-${index}`);
  const { body } = await patch('supervisor1001', { action: 'disable', templates });
  expect(body.summary).toEqual({ total: 1_000, succeeded: 0, skipped: 0, failed: 1_000 });
});

test('where every item belongs to other clients: 403; an agent without campaigns may switch nothing (D15)', async () => {
  const disable = { action: 'disable', templates: [theirs] };
  const message = 'BSP_CN permission required for cross-client access';
  expect(await patch('supervisor1001', disable)).toMatchObject({ status: 403, body: { message } });
  expect(await patch('agent1001', disable)).toMatchObject({
    status: 400,
    body: { message: 'agent without campaigns', code: 'agent_without_campaigns' },
  });
});

const item = 'a template must be an id, or an object with an id and an action that is enable or disable';
test.each(rows`
  {"action":"disable"}                         | templates is required
  {"action":"disable","templates":[]}          | templates must not be empty
  {"action":"pause","templates":["x"]}         | action must be enable or disable, received "pause"
  {"action":"Enable","templates":["x"]}        | action must be enable or disable, received "Enable"
  {"templates":[{"id":"x","action":"enable"},"y"]}   | templates[1] has no action
  {"templates":[{"id":"x","action":"pause"}]}  | ${item}, received {"id":"x","action":"pause"}
  {"action":"enable","templates":[1]}          | ${item}, received 1
  {"action":"enable","templates":["x"],"acton":"enable"}           | unrecognized field: acton; did you mean action?
  {"action":"enable","templates":[{"id":"y","Action":"disable"}]}  | unrecognized field: templates[0].Action; did you mean action?
  {"action":"enable","templates":"x"}          | templates is invalid: expected a list, received "x"
  {"action":"enable","templates":[${Array(1_001).fill('"x"').join()}]} | templates is invalid: expected at most 1000 items, received 1001
`)('%.60s is 400: %s', async (body, message) => {
  const reply = await patch('supervisor1001', body);
  expect([reply.status, reply.body.message]).toEqual([400, message]);
});
