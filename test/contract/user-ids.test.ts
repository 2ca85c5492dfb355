import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listedPartition } from '../../lib/opt-outs/opt-out-items.ts';
import { addressOf } from '../support/addresses.ts';
import { api, as, eventually, platform, synchronize } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eventFaults } from '../support/documented.ts';
import { eventsOfFile } from '../support/event-receiver.ts';
import { demoApp, signedWebhook, webhookOf } from '../support/platform-webhook.ts';
import { runningTarget } from '../support/running-target.ts';
import { code, dispatchTo, offer, order, type ReportRow as Row, reportOf, sendTo } from '../support/sends.ts';

/* People are addressed by business-scoped user ids (platform reference, 4.5), the whole way over HTTP. */

const did = '5491100000001';
const [waba] = demoApp.wabas;
const metadata = { display_phone_number: did, phone_number_id: '300000000000001' };
const numbers = ['549250000001', '549250000002'] as const;
/** The platform has never told these ids. */
const [stranger, parent] = ['AR.1aB2c', 'US.ENT.1aB2c'] as const;
const { documentClient, tableName } = runningTarget();
const ofMessages = ['message.delivered', 'message.failed', 'message.replied'];
const deliveries = eventsOfFile([...ofMessages, 'recipient.opted_out', 'recipient.opted_in']);
/** The receipts of the two numbers have told these ids. */
let [known, failing] = ['', ''];

const elsewhere = {
  ...{ user: 'supervisor1002', did: '5511900000003' },
  of: {
    template: { name: 'appointment_reminder', language: 'pt_BR' },
    params: { header: ['Ana'], body: ['Ana', '12/11', '15'] },
  },
} as const;

const rehearse = async (to: readonly string[], sending = {}) =>
  (await sendTo(to, { ...sending, headers: { 'Dry-Run': 'true' } })).body;

/** Returns the rows of a dispatch, once the condition holds. */
async function rowsOf(dispatchId: string, areThere: (rows: readonly Row[]) => boolean): Promise<readonly Row[]> {
  return (await reportOf(dispatchId, ({ data }) => areThere(data))).data;
}
const allAre = (state: string) => (rows: readonly Row[]) => rows.every((row) => row['state'] === state);
const areOver = (rows: readonly Row[]) => rows.every(({ state }) => state === 'read' || state === 'failed');

/** Returns the templates that the platform was asked to send to a recipient. */
async function askedFor(to: string): Promise<readonly string[]> {
  const { body } = await platform('GET /_control/requests?method=POST&path=/messages&limit=1000000');
  const requests: { body: { to?: string; template?: { name: string } } }[] = body.data;
  return requests.flatMap(({ body: sent }) => (sent.to === to ? (sent.template?.name ?? '') : [])).toSorted();
}

async function told(...changes: readonly { readonly field: string; readonly value: unknown }[]): Promise<void> {
  const reply = await api('POST /platform/webhook', signedWebhook(webhookOf(waba, ...changes)));
  expect([reply.status, reply.body]).toEqual([200, { received: true }]);
}

beforeAll(async () => {
  await synchronize('supervisor1001');
  await synchronize('supervisor1002');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  const dispatchId = await dispatchTo(numbers);
  // A `read` may be recorded before the receipt that tells the user id.
  const rows = await rowsOf(dispatchId, (all) => allAre('read')(all) && all.every((row) => 'user_id' in row));
  [known, failing] = rows.map((row) => String(row['user_id'])) as [string, string];
}, 60_000);

afterAll(() => tellAt(addressOf('platformUrl'), null));

test('who is sent to by number is named by user id, and by it is sent to, reported and told of', async () => {
  expect([known, failing]).toEqual([expect.stringMatching(/^AR\.\d+$/), expect.stringMatching(/^AR\.\d+$/)]);
  const course = { fail: 131_026 };
  await platform('POST /_control/receipts', { match: { to: numbers[1] }, course, times: 1 });
  const recipients = [known, stranger, parent, failing, known];
  const { estimate } = await rehearse(recipients);
  expect(estimate.by_market).toMatchObject([
    { market: 'AR', recipients: 3 },
    { market: 'US', recipients: 1 },
  ]);

  const { headers, body } = await sendTo(recipients);
  const dispatchId = headers.get('dispatch-id') ?? '';
  expect(body.warning).toBe('duplicate recipients were dropped: recipients[4]');
  const rows = await rowsOf(dispatchId, areOver);
  expect(rows).toMatchObject([
    { to: known, user_id: known, wa_id: numbers[0], state: 'read' },
    { to: stranger, user_id: stranger, state: 'read' },
    { to: parent, user_id: parent, state: 'read' },
    { to: failing, user_id: failing, state: 'failed', code: '131026' },
    { to: known, user_id: known, wa_id: numbers[0], duplicate_of: 0 },
  ]);
  for (const row of rows.slice(1, 3)) expect(row).not.toHaveProperty('wa_id');

  const { body: taken } = await platform('GET /_control/messages?limit=1000');
  const sent = (taken.data as { request: Row }[])
    .map(({ request }) => request)
    .filter((request) => String(request['biz_opaque_callback_data']).startsWith(`${dispatchId}-`));
  expect(sent.map((request) => request['recipient']).sort()).toEqual([known, stranger, parent, failing].sort());
  for (const request of sent) expect(request).not.toHaveProperty('to');

  const events = await eventually('the events are there', async () => {
    const all = deliveries
      .map((delivery) => JSON.parse(delivery.body))
      .filter(({ data }) => data.dispatch_id === dispatchId);
    return new Set(all.map(({ data }) => data.message_id)).size === 4 ? all : undefined;
  });
  const dataOf = (index: number) => events.find(({ data }) => data.message_id === `${dispatchId}-${index}`)?.data;
  expect(dataOf(0)).toMatchObject({ to: known, user_id: known, wa_id: numbers[0] });
  expect(dataOf(1)).toMatchObject({ to: stranger, user_id: stranger });
  expect(dataOf(1)).not.toHaveProperty('wa_id');
  expect(dataOf(3)).toMatchObject({ to: failing, user_id: failing, code: '131026' });
  expect(deliveries.flatMap((delivery) => eventFaults(delivery.body))).toEqual([]);
}, 60_000);

test('what people write and prefer is taken; who has a new id is sent to by it, where that was told and nowhere else', async () => {
  const person = { from: numbers[0], from_user_id: known, timestamp: String(Math.floor(Date.now() / 1_000)) };
  const said = (id: string, message: object) => ({ ...person, id: `wamid.user-ids-${id}`, ...message });
  const preference = { wa_id: numbers[0], user_id: known, category: 'marketing_messages', value: 'stop' };
  const replacement = 'AR.20000000000000000000';
  const system = {
    ...{ type: 'user_changed_user_id', wa_id: '549250000003', user_id: replacement },
    ...{ body: 'User Sheena Nelson changed', previous_user_id: known },
  };
  await told(
    { field: 'messages', value: { metadata, messages: [said('1', { type: 'text', text: { body: 'STOP' } })] } },
    {
      field: 'standby',
      value: { metadata, messages: [said('2', { type: 'button', button: { payload: 'Stop', text: 'Stop' } })] },
    },
    { field: 'user_preferences', value: { metadata, user_preferences: [{ ...preference, timestamp: 1_731_705_721 }] } },
    { field: 'messages', value: { metadata, messages: [said('3', { type: 'system', system }), 'nothing', null] } },
  );
  const warning = `user ids that the platform has replaced are followed: recipients[0] to ${replacement}`;
  await eventually('the new id is known', async () =>
    (await rehearse([known])).warning === warning ? true : undefined,
  );

  const { headers, body } = await sendTo([known, numbers[0], replacement]);
  expect(body.warning).toBe(`${warning}; duplicate recipients were dropped: recipients[2]`);
  const rows = await rowsOf(headers.get('dispatch-id') ?? '', allAre('read'));
  expect(rows.map((row) => [row['to'], row['duplicate_of']])).toEqual([
    [replacement, undefined],
    [numbers[0], undefined],
    [replacement, 0],
  ]);
  // The other number belongs to another portfolio, where the ids mean other people.
  expect(await rehearse([known], elsewhere)).not.toHaveProperty('warning');
}, 60_000);

test('a word is told to the client whose message it answers; one that answers none, and a setting, to no client (D55)', async () => {
  const [answering, silent] = ['549250000021', '549250000022'] as const;
  const toldOf = (to: string) =>
    deliveries
      .map(({ body }) => JSON.parse(body))
      .flatMap(({ type, data }) => ([data.recipient, data.from].includes(to) ? [{ type, ...data }] : []));
  const untilTold = (type: string, to: string) =>
    eventually(`${type} is told`, async () => toldOf(to).find((event) => event.type === type));
  // Other files move the simulator's clock ahead, and the service does not believe such times.
  const second = Math.floor(Date.now() / 1_000);
  const writes = (from: string, text: string, timestamp: number, context?: { readonly id: string }) => {
    const id = `wamid.user-ids-${from}-${timestamp}`;
    const message = { from, timestamp: String(timestamp), type: 'text', id, text: { body: text }, context };
    return told({ field: 'messages', value: { metadata, messages: [message] } });
  };
  const dispatchId = await dispatchTo([answering], { of: offer });
  await rowsOf(dispatchId, allAre('read'));
  const [{ id }] = (await platform(`GET /_control/messages?to=${answering}&limit=1`)).body.data;
  const who = { recipient: answering, did, scope: 'client', source: 'reply', message_id: `${dispatchId}-0` };
  await writes(answering, ' ¡BAJA!', second, { id });
  expect(await untilTold('recipient.opted_out', answering)).toMatchObject(who);
  // Within one second a stop wins.
  await writes(answering, 'Alta', second + 2, { id });
  expect(await untilTold('recipient.opted_in', answering)).toMatchObject(who);

  const optedOut = async () => (await rehearse([silent], { of: offer })).estimate.opted_out;
  const preference = { wa_id: silent, category: 'marketing_messages', detail: 'User stopped', value: 'stop' };
  await writes(silent, 'please do not stop', second);
  await writes(silent, 'STOP', second);
  await told({
    field: 'user_preferences',
    value: { metadata, user_preferences: [{ ...preference, timestamp: second }] },
  });
  await eventually('the stop counts', async () => ((await optedOut()) === 1 ? true : undefined));
  const refused = await dispatchTo([silent], { of: offer });
  expect(await rowsOf(refused, allAre('failed'))).toMatchObject([{ code: 'opted_out' }]);
  for (const user of ['supervisor1001', 'supervisor1002'] as const) {
    const { text } = await as(user, 'GET /v1/opt-outs?limit=1000');
    expect(text).not.toContain(silent);
  }
  expect(toldOf(silent)).toEqual([]);
  expect(deliveries.flatMap((delivery) => eventFaults(delivery.body))).toEqual([]);
}, 60_000);

test.each([
  [
    'a receipt',
    '549250000013',
    (to: string) => platform('POST /_control/receipts', { match: { to }, course: { fail: 131_050 }, times: 1 }),
  ],
  [
    'the answer of the call',
    '549250000015',
    (to: string) =>
      platform(`POST /_control/recipients/${to}/preference`, {
        ...{ phone_number_id: metadata.phone_number_id, value: 'stop', answer: 'refused' },
        told_in_seconds: null,
      }),
  ],
])(
  'a person whose marketing %s refuses gets no more of it, and all else (131050, D55)',
  async (_, refused, refuse) => {
    const other = '549250000014';
    // Another webhook field would tell of a stop in the chat as well; here it stays silent.
    expect((await refuse(refused)).status).toBe(200);
    const first = await dispatchTo([refused, other], { of: offer });
    expect(await rowsOf(first, areOver)).toMatchObject([{ code: '131050' }, { state: 'read' }]);
    const partition = { ':list': listedPartition(1001) };
    await eventually('the stop is stored', async () => {
      const query = {
        KeyConditionExpression: 'pk = :list',
        ExpressionAttributeValues: partition,
        ConsistentRead: true,
      };
      const { Items = [] } = await documentClient.send(
        new QueryCommand({ TableName: tableName('messages'), ...query }),
      );
      return Items.some(({ recipient }) => recipient === refused) ? true : undefined;
    });
    const again = await dispatchTo([refused, other], { of: offer });
    expect(await rowsOf(again, areOver)).toMatchObject([
      { to: refused, state: 'failed', code: 'opted_out' },
      { to: other, state: 'read' },
    ]);
    for (const of of [order, code]) {
      expect(await rowsOf(await dispatchTo([refused], { of }), areOver)).toMatchObject([{ state: 'read' }]);
    }
    expect(await askedFor(refused)).toEqual(['login_code', 'order_update', 'welcome_offer']);
  },
  60_000,
);

test('a stop by user id alone is joined with the number of the message that it answers: one row, and no more marketing (D55)', async () => {
  const person = '549250000041';
  const first = await dispatchTo([person], { of: offer });
  const [{ user_id: byId }] = (await rowsOf(first, allAre('read'))) as [Row];
  const [{ id }] = (await platform(`GET /_control/messages?to=${person}&limit=1`)).body.data;
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const said = { from_user_id: byId, timestamp, id: 'wamid.user-ids-alone', context: { id } };
  const messages = [{ ...said, type: 'button', button: { payload: 'p', text: 'Detener promociones' } }];
  await told({ field: 'messages', value: { metadata, messages } });
  const row = await eventually('the stop is listed', async () => {
    const { body } = await as('supervisor1001', 'GET /v1/opt-outs?limit=1000');
    const ofPerson = body.data.filter((each: Row) => JSON.stringify(each).includes(String(byId)));
    return ofPerson.length === 0 ? undefined : ofPerson;
  });
  expect(row).toMatchObject([{ recipient: person, also: [byId], state: 'stopped', source: 'quick_reply' }]);
  const again = await dispatchTo([person], { of: offer });
  expect(await rowsOf(again, allAre('failed'))).toMatchObject([{ to: person, code: 'opted_out' }]);
}, 60_000);

test('what a person answers is told to the client that asks for it, with the message that it answers (D55)', async () => {
  const person = '549250000031';
  const said = { did, from: person, user_id: expect.stringMatching(/^AR\./), replied_at: expect.any(String) };
  const isSaid = (text: string) => (data: Row) => data['from'] === person && data['text'] === text;
  const toldOf = async (text: string): Promise<Row> =>
    await eventually(`"${text}" is told`, async () => {
      const events = deliveries.map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'message.replied');
      return events.map(({ data }) => data).find(isSaid(text));
    });
  const sent = async () => {
    const dispatchId = await dispatchTo([person], { of: offer });
    await rowsOf(dispatchId, allAre('read'));
    const [{ id }] = (await platform(`GET /_control/messages?to=${person}&limit=1`)).body.data;
    const about = { ...said, dispatch_id: dispatchId, message_id: `${dispatchId}-0`, template: offer.template };
    return { about, at: `/_control/messages/${encodeURIComponent(id)}` };
  };

  const { about, at } = await sent();
  await platform(`POST ${at}/tap`, { button: 1, has_context: false });
  expect(await toldOf('Ahora no')).toMatchObject({ ...about, by: 'quick_reply', button_index: 1 });

  const message = await sent();
  await platform(`POST ${message.at}/reply`, { text: 'Until when?' });
  const answer = await toldOf('Until when?');
  expect(answer).toMatchObject({ ...message.about, by: 'text', text: 'Until when?' });
  expect(answer).not.toHaveProperty('button_index');

  expect(deliveries.flatMap((delivery) => eventFaults(delivery.body))).toEqual([]);
}, 60_000);
