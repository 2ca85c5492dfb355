import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiverUrl, startWebhookReceiver, type WebhookReceiver } from '../../infra/local/webhook-receiver.ts';
import { auditOf } from '../../infra/operate/operator-audit.ts';
import { eraseCommand } from '../../infra/operate/people/erase.ts';
import { type TableName, tables } from '../../infra/tables.ts';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, platform, synchronize, tokenOf } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eraseTemplate } from '../support/erase-template.ts';
import { allItems, itemsWith } from '../support/names-left.ts';
import { silent } from '../support/operator-audit.ts';
import { messagesHeld, queueClientAt, runningTarget } from '../support/running-target.ts';

/*
 * A person with data of every kind is erased while a dispatch runs (D60). Then the queues empty, and a reader without
 * knowledge of any format searches every table.
 */

const did = '5491100000001';
const phoneNumberId = '300000000000001';
const wabaId = '200000000000001';
const number = '5492557001301';
const secret = 'Calle-Balcarce-78';
/** The dispatch is held during the erasure, so that the speed of the machine does not matter. */
const total = 40;
/** Work of seconds takes minutes on a busy machine. */
const patienceMs = 240_000;
const template = { name: 'erase_me', language: 'en_US', category: 'UTILITY', status: 'APPROVED' };
const components = [{ type: 'BODY', text: 'For {{1}}.', example: { body_text: [['you']] } }];
const target = runningTarget();
const { documentClient, tableName } = target;
let receiver: WebhookReceiver;
let templateId = '';

/** Makes the platform refuse all messages of the number, until `mend` (D46). */
const hold = () => platform(`POST /_control/numbers/${phoneNumberId}/holds`, { code: 133_010 });
const mend = () => platform(`DELETE /_control/numbers/${phoneNumberId}/holds`);

async function configure(active: boolean): Promise<string | null> {
  const body = { url: receiverUrl, active, events: ['message.delivered', 'message.read', 'message.failed'] };
  const headers = { 'webhook-secret-rotate': String(active) };
  const reply = await api('PUT /v1/webhook/config', { token: await tokenOf('supervisor1001'), headers, body });
  return reply.headers.get('webhook-secret');
}

beforeAll(async () => {
  const waba = { waba_id: wabaId, templates: [{ ...template, components }] };
  templateId = (await platform('POST /_control/templates', waba)).body.ids[0];
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  const known = Promise.withResolvers<string>();
  // The receiver takes no event, so that events wait.
  receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), known.promise, async () => ({ status: 500 }));
  known.resolve((await configure(true)) ?? '');
}, 120_000);

afterAll(async () => {
  await tellAt(addressOf('platformUrl'), null);
  await configure(false);
  await receiver.close();
  await mend();
  await platform(`DELETE /_control/templates/${templateId}`);
  await eraseTemplate(target, template.name);
  for (const sk of ['CONFIG', 'DELIVERY']) {
    await documentClient.send(new DeleteCommand({ TableName: tableName('webhooks'), Key: { pk: 'CLIENT#1001', sk } }));
  }
}, 120_000);

async function send(addresses: readonly string[], key?: string): Promise<string> {
  const isPersons = (to: string) => to.endsWith(number) || to.startsWith('AR.');
  const reply = await api(`POST /v1/template/messages/${did}`, {
    token: await tokenOf('supervisor1001'),
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
    body: {
      ...{ did, type: 'template', channel: 'MESSAGING', template: { name: template.name, language: 'en_US' } },
      recipients: addresses.map((to) => ({ to, params: { body: [isPersons(to) ? secret : 'another'] } })),
    },
  });
  if (reply.status !== 200) throw new Error(`the send was refused: ${reply.text}`);
  return reply.headers.get('dispatch-id') ?? '';
}

async function sendOffer(): Promise<string> {
  const reply = await api(`POST /v1/template/messages/${did}`, {
    token: await tokenOf('supervisor1001'),
    body: {
      ...{ did, type: 'template', channel: 'MESSAGING', template: { name: 'coupon_drop', language: 'en_US' } },
      recipients: [{ to: number, params: { buttons: ['SAVE25'] } }],
    },
  });
  expect(reply.status).toBe(200);
  return reply.headers.get('dispatch-id') ?? '';
}

type Row = Readonly<Record<string, unknown>>;

async function rowsOf(dispatchId: string, query = ''): Promise<readonly Row[]> {
  const token = await tokenOf('supervisor1001');
  const { body } = await api(`GET /v1/template/messages/${did}/${dispatchId}${query}`, { token });
  return body.data;
}

/** Returns the one row of a dispatch, once it is read. */
const readRow = async (dispatchId: string) =>
  await eventually('it is read', async () => {
    const [row] = await rowsOf(dispatchId);
    return row?.['state'] === 'read' && 'user_id' in row ? row : undefined;
  });

async function erase(line: string): Promise<Readonly<Record<string, unknown>>> {
  const lines: string[] = [];
  const terminal = {
    ...{ print: (each: string) => void lines.push(each), tell: () => undefined, progress: silent },
    ...{ input: () => '', nowMs: Date.now },
  };
  await eraseCommand(
    [...line.split(' '), '--yes'],
    () => ({ target, stage: undefined, by: async () => 'someone', audit: auditOf(target, undefined) }),
    terminal,
  );
  return JSON.parse(lines.at(-1) ?? '');
}

const textOfAll = async (words: readonly string[]) => {
  const found: string[] = [];
  for (const name of Object.keys(tables) as TableName[]) {
    const items = await allItems(documentClient, tableName(name));
    found.push(...itemsWith(words, items).map((each) => `${name}: ${each}`));
  }
  return found;
};

test('a person who is erased in the middle of a dispatch is not called, and is named nowhere (D60)', async () => {
  // Other files on this stack may have left a wake that is delayed for minutes.
  const heldBefore = await heldInQueues();
  const byNumber = await send([`+${number}`], 'erase-me');
  const row = await readRow(byNumber);
  const userId = String(row['user_id']);
  const byId = await send([userId]);
  await readRow(byId);
  const words = [number, userId, secret];
  const token = await tokenOf('supervisor1001');
  expect((await api(`PUT /v1/opt-outs/${number}`, { token })).status).toBe(200);
  const others = Array.from({ length: total - 1 }, (_, at) => String(5_492_558_000_000 + at));
  await hold();
  const dispatchId = await send([...others, number]);
  await eventually(
    'it waits',
    async () => ((await rowsOf(dispatchId)).some(({ code }) => code === '133010') ? true : undefined),
    patienceMs,
  );
  await eventually('no call of it is under way', async () => {
    const items = await allItems(documentClient, tableName('messages'));
    const isUnderWay = items.some(({ pk, state }) => String(pk).includes(dispatchId) && state === 'claimed');
    return isUnderWay ? undefined : true;
  });
  await eventually('an event waits', async () =>
    (await textOfAll(words)).some((name) => name.includes('WAITS#')) ? true : undefined,
  );
  expect((await textOfAll(words)).length).toBeGreaterThan(8);

  const log = await erase(`--recipient ${number}`);
  expect(log).toMatchObject({ dispatches: 3, messages: 3, pending: 1, underWay: 0, linkedIds: 1, clean: true });
  expect(log).toMatchObject({ changed: { optOutRows: 1 } });
  await mend();
  const rows = await eventually(
    'all of it has ended',
    async () => {
      const pending = await rowsOf(dispatchId, '?state=pending');
      return pending.length === 0 ? await rowsOf(dispatchId, '?state=failed&limit=1000') : undefined;
    },
    patienceMs,
  );
  expect(rows).toEqual([expect.objectContaining({ index: total - 1, state: 'failed', code: 'erased' })]);
  expect(rows.flatMap(Object.keys).filter((name) => ['to', 'user_id', 'wa_id', 'reason'].includes(name))).toEqual([]);
  expect(await accepted()).toBe(total + 1);
  // The two messages before the erasure went to the number and to the user id.
  expect((await platform(`GET /_control/messages?to=${number}&template=${template.name}`)).body.total).toBe(2);
  expect(await rowsOf(byNumber)).toEqual([{ index: 0, state: 'read', updated_at: row['updated_at'] }]);

  await eventually(
    'the queues hold no more than before, but for the wake of what waits, and an erasure leaves nothing',
    async () => {
      if ((await heldInQueues()) > heldBefore + 1) return undefined;
      await erase(`--recipient ${number}`);
      return (await textOfAll(words)).length === 0 ? true : undefined;
    },
    patienceMs,
  );

  const offer = await sendOffer();
  const [offered] = await eventually('the stop refuses as before', async () => {
    const rows = await rowsOf(offer);
    return rows[0]?.['state'] === 'pending' ? undefined : rows;
  });
  expect(offered).toMatchObject({ to: number, state: 'failed', code: 'opted_out' });
}, 900_000);

async function heldInQueues(): Promise<number> {
  const queues = queueClientAt(addressOf('sqsEndpoint'));
  const held = await Promise.all(Object.values(addressOf('queueUrls')).map((url) => messagesHeld(queues, url)));
  return held.reduce((sum, count) => sum + count, 0);
}

async function accepted(): Promise<number> {
  return (await platform(`GET /_control/messages?template=${template.name}&limit=1`)).body.total;
}
