import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { rowKey } from '../../lib/templates/model/items.ts';
import { documentId, parseDocumentId } from '../../lib/templates/model/template-key.ts';
import { type ApiReply, api, type DemoUser, synchronize, tokenOf } from '../support/api.ts';
import { auditLinesOf } from '../support/audit-lines.ts';
import { campaigns, channels, clients } from '../support/demo.ts';
import { runningTarget } from '../support/running-target.ts';

const { documentClient, tableName } = runningTarget();

/** Client 1001 has `own`, `second` and `pending` (not approved), client 1002 has `theirs` on the same WABA. */
let own: string;
let second: string;
let pending: string;
let theirs: string;

async function call(user: DemoUser, route: string, body?: unknown): Promise<ApiReply> {
  return api(route, { token: await tokenOf(user), body });
}
const patch = (user: DemoUser, body: unknown, query = '') => call(user, `PATCH /v1/templates/status${query}`, body);
const disable = (...templates: unknown[]) => ({ action: 'disable', templates });
const enable = (...templates: unknown[]) => ({ action: 'enable', templates });
const listed = async (clientId: number, query: string) =>
  (await call('operator', `GET /v1/templates?client_id=${clientId}&size=100&${query}`)).body;
const idOf = async (clientId: number, query: string): Promise<string> => (await listed(clientId, query)).data[0].id;
const reasons = ({ body }: ApiReply) =>
  body.results.map((result: { success: boolean; reason?: string }) => (result.success ? 'success' : result.reason));
const shown = ({ status, body }: ApiReply) => [status, body.message, body.code];

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  own = await idOf(clients.andes, 'name=order_update');
  theirs = await idOf(clients.boreal, 'name=order_update');
  second = await idOf(clients.andes, 'state=APPROVED&category=AUTHENTICATION');
  pending = await idOf(clients.andes, 'state=PENDING,PAUSED');
});

function addressOf(id: string) {
  const address = parseDocumentId(id);
  if (address === undefined) throw new Error(`${id} is no document id`);
  return address;
}

function siblingOf(id: string): string {
  const address = addressOf(id);
  return documentId({ ...address, sequence: address.sequence + 1 });
}

/** Writes a row as a removed channel or campaign leaves it, or as it was seeded. */
async function store(id: string, documents: string, active: boolean): Promise<void> {
  const address = addressOf(id);
  await documentClient.send(
    new UpdateCommand({
      TableName: tableName('templates'),
      Key: rowKey(address.clientId, address.templateKey),
      UpdateExpression: 'SET d = :documents, a = :active',
      ConditionExpression: 'attribute_exists(pk)',
      ExpressionAttributeValues: { ':documents': documents, ':active': active },
    }),
  );
}
const sequenceOf = (id: string) => addressOf(id).sequence;
const assign = (id: string, pairs: string, active = true) => store(id, `${sequenceOf(id)}${pairs}`, active);

/** Other tests expect the demo templates active and unassigned, as they are seeded. */
afterEach(async () => {
  for (const id of [own, second, pending, theirs]) await assign(id, '');
});

describe('one call', () => {
  test('answers every item in order with a summary, and the listing shows it', async () => {
    await assign(second, `:${channels.andes}:${campaigns.collections}`, false);
    const reply = await patch('supervisor1001', disable(own, { id: second, action: 'enable' }, 'x'));
    expect([reply.status, reply.body]).toEqual([
      200,
      {
        results: [
          { id: own, action: 'disable', success: true, skipped: false, previous_active: true, current_active: false },
          { id: second, action: 'enable', success: true, skipped: false, previous_active: false, current_active: true },
          { id: 'x', action: 'disable', success: false, skipped: false, reason: 'not_found' },
        ],
        summary: { total: 3, succeeded: 2, skipped: 0, failed: 1 },
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

  test('1,000 items', async () => {
    const ids = Array.from({ length: 999 }, (_, index) => `unknown-${index}`);
    const reply = await patch('supervisor1001', disable(...ids, own));
    expect(reply.body.summary).toEqual({ total: 1_000, succeeded: 1, skipped: 0, failed: 999 });
    expect(reply.body.results.at(-1)).toMatchObject({ id: own, success: true });
  });
});

describe('reasons', () => {
  test.each([
    ['not_found', () => disable(own.replace(/.$/, '9'), own), undefined],
    ['forbidden', () => disable(theirs, own), undefined],
    ['already_disabled', () => disable(own), () => assign(own, '', false)],
    ['already_enabled', () => enable(own), undefined],
    [
      'template_not_approved',
      () => enable(pending),
      () => assign(pending, `:${channels.andes}:${campaigns.onboarding}`, false),
    ],
    ['channel_unassigned', () => enable(own), () => assign(own, `:599:${campaigns.onboarding}`, false)],
    ['campaign_unassigned', () => enable(own), () => assign(own, `:${channels.andes}:99`, false)],
  ] as const)('%s (D17)', async (reason, body, before) => {
    await before?.();
    const [first] = reasons(await patch('supervisor1001', body()));
    expect(first).toBe(reason);
  });

  test('conflicting_action: no occurrence is processed', async () => {
    const reply = await patch('supervisor1001', disable(own, second, { id: own, action: 'enable' }));
    expect(reasons(reply)).toEqual(['conflicting_action', 'success', 'conflicting_action']);
    expect(reply.body.results[0]).toEqual({
      id: own,
      action: 'disable',
      success: false,
      skipped: true,
      reason: 'conflicting_action',
    });
    expect((await listed(clients.andes, 'active=false')).data).toMatchObject([{ id: second }]);
  });

  test('two ids of one template contradict each other, and an unknown id blocks none', async () => {
    const [sibling, unknown] = [siblingOf(own), siblingOf(second)];
    const [onboarding, collections] = [campaigns.onboarding, campaigns.collections];
    const pair = (campaignId: number) => `:${channels.andes}:${campaignId}`;
    await assign(own, `${pair(onboarding)} ${sequenceOf(sibling)}${pair(collections)}`);
    const opposite = (id: string) => ({ id, action: 'enable' });
    const reply = await patch('supervisor1001', disable(own, opposite(sibling), opposite(unknown), second));
    expect(reasons(reply)).toEqual(['conflicting_action', 'conflicting_action', 'not_found', 'success']);
    expect(reasons(await patch('supervisor1001', disable(sibling, own)))).toEqual(['success', 'duplicate_request']);
  });

  test('an agent without campaigns may switch nothing (D15)', async () => {
    const refused = [400, 'agent without campaigns', 'agent_without_campaigns'];
    expect(shown(await patch('agent1001', disable(own)))).toEqual(refused);
  });
});

describe('whose templates', () => {
  test('an operator without client_id acts for each owner', async () => {
    expect(reasons(await patch('operator', disable(own, theirs)))).toEqual(['success', 'success']);
    for (const clientId of [clients.andes, clients.boreal])
      expect((await listed(clientId, 'active=false')).total).toBe(1);
  });

  test.each([`?client_id=${clients.andes}`, ''])(
    'an operator with client_id %j gets forbidden for the _id of another client (D17)',
    async (query) => {
      const forAndes = (body: object) =>
        patch('operator', query === '' ? { ...body, client_id: clients.andes } : body, query);
      expect(reasons(await forAndes(disable(theirs)))).toEqual(['forbidden']);
      expect((await listed(clients.andes, 'active=false')).total).toBe(0);
      expect(reasons(await forAndes(disable(theirs, own)))).toEqual(['forbidden', 'success']);
      expect((await listed(clients.boreal, 'active=false')).total).toBe(0);
    },
  );

  test('403 for a foreign client_id, and when every item belongs to other clients', async () => {
    const forbidden = [403, 'BSP_CN permission required for cross-client access', 'cross_client_forbidden'];
    expect(shown(await patch('supervisor1001', disable(own), `?client_id=${clients.boreal}`))).toEqual(forbidden);
    expect(shown(await patch('supervisor1001', { ...disable(own), client_id: clients.boreal }))).toEqual(forbidden);
    expect(shown(await patch('supervisor1001', disable(theirs)))).toEqual(forbidden);
    const conflicting = disable(theirs, theirs, { id: theirs, action: 'enable' });
    expect(shown(await patch('supervisor1001', conflicting))).toEqual(forbidden);
    expect((await listed(clients.boreal, 'active=false')).total).toBe(0);
  });
});

describe('requests that are not understood are 400', () => {
  test.each([
    ['no templates', { action: 'disable' }, 'templates is required'],
    ['empty templates', { action: 'disable', templates: [] }, 'templates must not be empty'],
    ['an invalid action', { action: 'pause', templates: ['x'] }, 'action must be enable or disable, received "pause"'],
    [
      'an action in other letters',
      { action: 'Enable', templates: ['x'] },
      'action must be enable or disable, received "Enable"',
    ],
    ['an item without an action', { templates: [{ id: 'x', action: 'enable' }, 'y'] }, 'templates[1] has no action'],
    [
      'an item with an invalid action',
      { templates: [{ id: 'x', action: 'pause' }] },
      'a template must be an id, or an object with an id and an action that is enable or disable, received {"id":"x","action":"pause"}',
    ],
    [
      'an item that is a number',
      { action: 'enable', templates: [1] },
      'a template must be an id, or an object with an id and an action that is enable or disable, received 1',
    ],
    ['an unknown field', { ...disable('x'), acton: 'enable' }, 'unrecognized field: acton; did you mean action?'],
    [
      'an unknown field of an item',
      { action: 'enable', templates: ['x', { id: 'y', Action: 'disable' }] },
      'unrecognized field: templates[1].Action; did you mean action?',
    ],
    [
      'templates that is an id',
      { action: 'enable', templates: 'x' },
      'templates is invalid: expected a list, received "x"',
    ],
    [
      '1,001 items',
      { action: 'enable', templates: Array(1_001).fill('x') },
      'templates is invalid: expected at most 1000 items, received 1001',
    ],
    [
      'malformed JSON',
      '{"templates" []}',
      'the request body must be valid JSON: line 1, column 14: expected a colon, received "["',
    ],
    ['no body', undefined, 'the request body must be valid JSON, received nothing'],
    ['a list', '[]', 'the request body must be a JSON object'],
    ['a client_id that is none', { ...disable('x'), client_id: 'abc' }, 'invalid client_id: abc'],
  ])('%s', async (_, body, message) => {
    const reply = await patch('supervisor1001', body);
    expect([reply.status, reply.body.message]).toEqual([400, message]);
  });
});
