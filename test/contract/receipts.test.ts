import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { holdsKey } from '../../lib/messages/dispatch/items.ts';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, platform, synchronize } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { eventFaults } from '../support/documented.ts';
import { eventsOfFile } from '../support/event-receiver.ts';
import { demoApp, signedWebhook, statusChange, statusOf, webhookOf } from '../support/platform-webhook.ts';
import { rows } from '../support/rows.ts';
import { runningTarget } from '../support/running-target.ts';
import { askReport, dispatchTo, reportOf } from '../support/sends.ts';

/*
 * The closed loop (D38 to D41) goes from a send over the simulator's signed webhooks to the report and the client's
 * webhook. Everything goes over HTTP.
 */

/**
 * Only tests send receipts of these messages. When one shows, the receipts in the same webhook have been processed too.
 */
const marks = ['549240000011', '549240000012'] as const;
const hourMs = 3_600_000;

/**
 * The simulator sends the statuses of a course; magic recipients have their own, and the answers to some are lost. Each
 * kind of event tells of it once.
 */
const fates = rows`
  549240000011 | nothing ever told             | {"lost":true} | sent
  549240000012 | nothing ever told             | {"lost":true} | sent
  549240000001 | read                          | | read
  549240000002 | delivered and never read      | {"read_after_ms":null} | delivered
  549240000003 | sent and no more              | {"delivered_after_ms":null,"read_after_ms":null} | sent
  549240000004 | read, no delivery was told    | {"delivered_after_ms":null} | read
  549240000005 | nothing ever told             | {"lost":true} | sent
  549240000006 | told three times, last first  | {"copies":3,"order":"reversed"} | read
  549240000007 | told five times and shuffled  | {"copies":5,"order":"shuffled"} | read
  549240000008 | told three times to have failed | {"fail":131026,"copies":3} | failed 131026 | message.failed
  15550231026  | undeliverable, at once        | | failed 131026 | message.failed
  15550131026  | undeliverable, later          | | failed 131026 | message.failed
  15550131049  | the cap of a person           | | failed 131049 | message.failed
  15550131050  | marketing stopped             | | failed 131050 | message.failed
  15550131053  | media not fetched             | | failed 131053 | message.failed
  15550000201  | held, then released           | {"held_ms":1000} | read | message.held
  15550132015  | held, then dropped            | {"held_ms":1000} | failed 132015 | message.failed message.held
  15550000202  | held to the end               | | held paused | message.held
  15550000200  | lost, settled by three        | {"late_ms":5000,"copies":3,"order":"shuffled"} | read | message.resolved message.unknown
  549240000009 | lost, and failed later        | {"fail":131026,"failed_after_ms":5000} | failed 131026 | message.failed message.resolved message.unknown
  549240000010 | lost, and nothing told        | {"lost":true} | unknown no_answer | message.unknown
`.map(([to = '', what = '', course = '', ending = '', told = '']) => {
  const [state = '', code] = ending.split(' ');
  return { to, what, course: course && JSON.parse(course), state, code, told: told.split(' ').filter(Boolean) };
});
const answersLost = ['549240000009', '549240000010'];

const [waba, otherWaba] = demoApp.wabas;
const [phoneNumberId, foreignNumberId] = ['300000000000001', '300000000000002'];
const sentOnly = '549240000003';
const neverTold = '549240000005';
const heldToTheEnd = '15550000202';

const { documentClient, tableName } = runningTarget();
const deliveries = eventsOfFile();
let dispatchId: string;

/** Returns the recipient's row of the report once it is in that state; fails when it never is. */
async function rowOf(to: string, state: unknown): Promise<Record<string, unknown>> {
  const isIt = (row: { to: string; state: string }) => row.to === to && row.state === state;
  return (await reportOf(dispatchId, ({ data }) => data.some(isIt))).data.find(isIt);
}

const messageIdOf = (to: string) => `${dispatchId}-${fates.findIndex((fate) => fate.to === to)}`;

/** Returns the events of a message, each id once. */
function toldOf(messageId: string): { readonly type: string; readonly data: Record<string, unknown> }[] {
  const events = new Map(deliveries.map(({ webhookId, body }) => [webhookId, JSON.parse(body)]));
  return [...events.values()].filter(({ data }) => data.message_id === messageId);
}

/** The platform sends these statuses now in one webhook, as the app of the WABA. */
async function tell(...statuses: readonly (readonly [to: string, status: object, phoneNumberId?: string])[]) {
  const changes = statuses.map(([to, status, number = phoneNumberId]) =>
    statusChange(number, statusOf(messageIdOf(to), { timestamp: nowSeconds(), ...status })),
  );
  const reply = await api('POST /platform/webhook', signedWebhook(webhookOf(waba, ...changes)));
  expect(reply.status).toBe(200);
}

const nowSeconds = () => String(Math.floor(Date.now() / 1_000));

beforeAll(async () => {
  await synchronize('supervisor1001');
  await tellAt(addressOf('platformUrl'), `${addressOf('apiUrl')}/platform/webhook`);
  for (const { to, course } of fates) {
    if (course !== '') await platform('POST /_control/receipts', { match: { to }, course, times: 1 });
  }
  for (const to of answersLost) {
    await platform('POST /_control/faults', { match: { to }, action: { drop: 'after' }, times: 1 });
  }
  dispatchId = await dispatchTo(fates.map(({ to }) => to));
}, 60_000);

afterAll(async () => {
  await platform('DELETE /_control/faults').catch(() => undefined);
  await tellAt(addressOf('platformUrl'), null);
  // One of the receipts tells of a paused template, and its hold would stop the next file (D46).
  await documentClient.send(new DeleteCommand({ TableName: tableName('messages'), Key: holdsKey(waba) }));
});

test('one whose answer was lost is unknown until its receipt comes', async () => {
  const row = await rowOf('15550000200', 'unknown');
  expect(row).toMatchObject({ code: 'no_answer' });
  expect(row).not.toHaveProperty('platform_message_id');
});

describe('what the platform tells later is in the report and in the client’s webhook', () => {
  test.each(fates)('$what: $state', async ({ to, state, code, told }) => {
    const row = await rowOf(to, state);
    expect([row['to'], row['code']]).toEqual([to, code]);
    if (state === 'failed') expect(row['reason']).toEqual(expect.stringMatching(/\w/));
    const isTaken = to !== '15550231026' && state !== 'unknown';
    const { body } = await platform(`GET /_control/messages?to=${to}&limit=1`);
    expect(row['platform_message_id']).toBe(isTaken ? body.data[0].id : undefined);

    await eventually('every event is there', async () =>
      told.every((type) => toldOf(messageIdOf(to)).some((event) => event.type === type)) ? true : undefined,
    );
    const failure = toldOf(messageIdOf(to)).find(({ type }) => type === 'message.failed');
    if (failure !== undefined) expect(failure.data).toMatchObject({ to, code: row['code'], reason: row['reason'] });
  });

  test('the counts are those of the rows, and no recipient is missing', async () => {
    const { total, counts, complete, data } = (await askReport(dispatchId)).body;
    expect([total, complete, data.length]).toEqual([fates.length, true, fates.length]);
    const ending = (state: string) => fates.filter((fate) => fate.state === state).length;
    expect(counts).toEqual(Object.fromEntries(Object.keys(counts).map((state) => [state, ending(state)])));
  });

  test('each event is told under one id, and nothing else is told', () => {
    for (const { to, told } of fates) {
      expect([
        to,
        toldOf(messageIdOf(to))
          .map(({ type }) => type)
          .sort(),
      ]).toEqual([to, told]);
    }
    expect(deliveries.every(({ verified }) => verified)).toBe(true);
    expect(deliveries.flatMap(({ body }) => eventFaults(body))).toEqual([]);
  });
});

/* Each test waits for the queue of receipts once, so receipts of one test are seen together. */
describe('what comes later still', () => {
  const delivered = '549240000002';
  const unclear = '549240000010';
  const bad = { status: 'failed', errors: [{ code: 131026, title: 'Undeliverable' }] };
  let read: Record<string, unknown>;

  test('carries a message on, however late; what is not ours to believe changes nothing', async () => {
    const timestamp = String(Math.floor((Date.now() - 2 * hourMs) / 1_000));
    const before = await rowOf(sentOnly, 'sent');
    await tell([sentOnly, { status: 'read', timestamp, id: before['platform_message_id'] }]);

    // The receipts are of a number that did not send, of an unknown index, and of an unknown dispatch.
    await tell([unclear, { status: 'sent' }, foreignNumberId], [delivered, bad, foreignNumberId]);
    const told = (to: string, status: object = {}) => statusOf(messageIdOf(to), { timestamp: nowSeconds(), ...status });
    const unsent = [`${dispatchId}-9999`, '01JD0000000000000000000000-0'].map((id) => statusOf(id, bad));
    const foreign = statusChange(foreignNumberId, told(delivered, bad));
    const unknown = webhookOf(waba, foreign, statusChange(phoneNumberId, ...unsent, told(marks[0])));
    expect((await api('POST /platform/webhook', signedWebhook(unknown))).status).toBe(200);

    // This webhook has another secret; the next names another WABA of the app and a foreign WABA.
    const change = statusChange(phoneNumberId, statusOf(messageIdOf(unclear), { status: 'read' }));
    const forged = signedWebhook(webhookOf(waba, change), 'another-app-secret');
    expect((await api('POST /platform/webhook', forged)).status).toBe(401);
    const elsewhere = [otherWaba, '299999999999999'].flatMap((wabaId) => webhookOf(wabaId, change).entry);
    const ours = webhookOf(waba, statusChange(phoneNumberId, told(marks[1])));
    const together = signedWebhook({ ...ours, entry: [...elsewhere, ...ours.entry] });
    expect((await api('POST /platform/webhook', together)).status).toBe(200);

    for (const mark of marks) await rowOf(mark, 'delivered');
    read = await rowOf(sentOnly, 'read');
    expect(read['updated_at']).toBe(new Date(Number(timestamp) * 1_000).toISOString());
    expect(await rowOf(unclear, 'unknown')).toMatchObject({ code: 'no_answer' });
    await rowOf(delivered, 'delivered');
  });

  test('takes nothing back, whatever it says; the first word that is ours settles the unknown one, told once', async () => {
    await tell(
      [sentOnly, { status: 'sent' }],
      [heldToTheEnd, { status: 'teleported' }],
      [unclear, { status: 'sent' }],
      [unclear, { status: 'sent' }],
      [neverTold, { status: 'delivered' }],
    );
    await rowOf(neverTold, 'delivered');
    expect(await rowOf(sentOnly, 'read')).toEqual(read);
    expect(await rowOf(heldToTheEnd, 'held')).toMatchObject({ code: 'paused' });
    expect(await rowOf(unclear, 'sent')).not.toHaveProperty('code');
    await eventually('that it is resolved is told', async () =>
      toldOf(messageIdOf(unclear)).some(({ type }) => type === 'message.resolved') ? true : undefined,
    );
  });

  test('a failure after a delivery is neither in the report nor told', async () => {
    await tell([neverTold, bad], [heldToTheEnd, bad], [unclear, { status: 'delivered' }]);
    await eventually('the other failure is told', async () =>
      toldOf(messageIdOf(heldToTheEnd)).some(({ type }) => type === 'message.failed') ? true : undefined,
    );
    await rowOf(heldToTheEnd, 'failed');
    await rowOf(unclear, 'delivered');
    await rowOf(neverTold, 'delivered');
    expect(toldOf(messageIdOf(neverTold))).toEqual([]);
    const types = toldOf(messageIdOf(unclear)).map(({ type }) => type);
    expect(types).toEqual(['message.unknown', 'message.resolved']);
  });
});
