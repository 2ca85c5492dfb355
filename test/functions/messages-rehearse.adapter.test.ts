import { describe, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { recordOptOut } from '../../lib/opt-outs/record-opt-out.ts';
import { makeListedChannel } from '../support/channels.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { body, makeTemplate, sendable } from '../support/platform-templates.ts';
import { sendRequest as request } from '../support/send-requests.ts';
import { type SentRequest, sendingEndpoint, startMs } from '../support/sending.ts';
import { localDocumentClient } from '../support/stores.ts';

const templates = {
  ...sendable,
  paused: makeTemplate([body('x')], { status: 'PAUSED' }),
};
const dry = { 'dry-run': 'true' };
const numberId = '300000000000001';
const people = (count: number) => Array.from({ length: count }, (_, at) => String(5_511_900_000_000 + at));

// Prices are in test/lib/pricing/, hours in test/lib/messages/rehearse/expected-times.test.ts, limits in portfolio.test.ts
// there, what the platform then takes in contract/messages-rehearse.test.ts.
describe('a rehearsal (D51)', () => {
  test('answers recipients, cost by market, seconds and warning, reads the pace, and writes and queues nothing', async () => {
    const { send, queueAttempts, tableAttempts } = await sendingEndpoint({ templates });
    const recipients = ['5491155550001', '+5491155550001', '5511955550001', '+4915155550001', 'BR.1a2B3c'];
    // The rehearsal reads replaced user ids first, and then pace and backlog.
    const { status, headers, body: answered } = await send(request(recipients), { headers: dry });
    expect([status, answered]).toEqual([
      200,
      {
        success: true,
        dry_run: true,
        recipients: 4,
        warning: 'duplicate recipients were dropped: recipients[1]',
        estimate: {
          cost: { amount: 0.0946, currency: 'USD' },
          by_market: [
            { market: 'AR', recipients: 1, amount: 0.026 },
            { market: 'BR', recipients: 2, amount: 0.0136 },
            { market: 'DE', recipients: 1, amount: 0.055 },
          ],
          seconds: 1,
        },
      },
    ]);
    expect(headers).not.toHaveProperty('dispatch-id');
    expect(queueAttempts).toEqual([]);
    expect(tableAttempts.map(({ command }) => command)).toEqual([
      'BatchGetItemCommand',
      'GetItemCommand',
      'QueryCommand',
    ]);
  });

  test('leaves an Idempotency-Key alone: neither used up, nor answered by what it has', async () => {
    const { send, accepted, tableAttempts } = await sendingEndpoint({ templates });
    const headers = { 'idempotency-key': 'order-17' };
    const rehearsed = await send(request(people(2)), { headers: { ...headers, ...dry } });
    expect(tableAttempts.map(({ command }) => command)).toEqual(['GetItemCommand', 'QueryCommand']);
    const real = await send(request(people(1)), { headers });
    expect(real).toMatchObject({
      status: 200,
      body: { success: true },
      headers: { 'dispatch-id': expect.any(String) },
    });
    expect(await send(request(people(2)), { headers: { ...headers, ...dry } })).toEqual(rehearsed);
    const { wakes, requests } = await accepted();
    expect([wakes.length, requests.length]).toEqual([0, 1]);
  });

  test.each<[string, unknown, SentRequest]>([
    ['400, a body that is none', {}, {}],
    ['400, a recipient without what the template takes', request(people(2), 'order'), {}],
    ['400, a key that is none', request(people(1)), { headers: { 'idempotency-key': '' } }],
    ['401', request(people(1)), { caller: 'none' }],
    ['403, a DID of another client', { ...request(people(1)), did: '5511900000003' }, { did: '5511900000003' }],
    ['404', request(people(1), 'nothing'), {}],
    ['422, a template that cannot be sent', request(people(1), 'paused'), {}],
    ['422, two DIDs', request(people(1)), { did: '5491100000002' }],
  ])('is refused as the send would be: %s', async (_, sent, more) => {
    const real = await (await sendingEndpoint({ templates })).send(sent, more);
    const { send } = await sendingEndpoint({ templates });
    expect(await send(sent, { ...more, headers: { ...more.headers, ...dry } })).toEqual(real);
    expect(real.status).toBeGreaterThanOrEqual(400);
  });

  test.each([
    ['of the client', { kind: 'client', clientId: 1001 }],
    ['of the WABA', { kind: 'waba', wabaId: '200000000000001' }],
  ] as const)(
    'counts the people who have opted out %s, prices none of them, and reads them once (D55)',
    async (_, scope) => {
      const sale = makeTemplate([body('Sale.')], { category: 'MARKETING' });
      const { send, optOuts, tableAttempts } = await sendingEndpoint({ templates: { ...templates, sale } });
      const stop = { says: 'stopped', atMs: startMs, source: 'platform' } as const;
      const reads = () => tableAttempts.splice(0).filter(({ command }) => command === 'BatchGetItemCommand').length;
      const recipients = ['+5491155550001', '14165550001', '12125550001', ...people(200)];
      const rehearse = async (name: string, to = recipients) => (await send(request(to, name), { headers: dry })).body;
      const all = await rehearse('sale');
      expect([all.estimate.opted_out, reads()]).toEqual([undefined, 1]);

      for (const recipient of ['5491155550001', '12125550001', ...people(2)]) {
        await recordOptOut({ scope, recipients: [recipient], word: stop }, optOuts);
      }
      const without = await rehearse('sale');
      // The rehearsal reads the marks once, and then people in batches of a hundred.
      expect(reads()).toBe(4);
      expect(without).toMatchObject({
        recipients: 203,
        estimate: { opted_out: 4, by_market: [{ recipients: 198 }, {}] },
      });
      expect(without.estimate).toMatchObject({ seconds: all.estimate.seconds });
      expect(without.estimate).not.toHaveProperty('not_delivered');
      expect(without.estimate.cost.amount).toBeLessThan(all.estimate.cost.amount);

      expect(await rehearse('sale', ['5491155550001', ...people(2)])).toMatchObject({
        recipients: 3,
        estimate: { cost: { amount: 0, currency: 'USD' }, by_market: [], opted_out: 3, seconds: 0 },
      });
      reads();
      expect((await rehearse('plain')).estimate).not.toHaveProperty('opted_out');
      const code = { body: ['123456'] };
      const { body: coded } = await send(request(people(2), 'code', code), { headers: dry });
      expect(Object.keys(coded.estimate)).toEqual(['cost', 'by_market', 'seconds']);
      expect(reads()).toBe(0);
    },
  );

  test('counts them of UTILITY where the client is set up so, and asks for those of its own alone (D55)', async () => {
    const { send, optOuts } = await sendingEndpoint({ templates, utilityStops: [1001] });
    const word = { says: 'stopped', atMs: startMs, source: 'reply' } as const;
    const rehearse = async () => (await send(request(people(3)), { headers: dry })).body.estimate.opted_out;
    const stop = (clientId: number, recipients: readonly string[]) =>
      recordOptOut({ scope: { kind: 'client', clientId }, recipients, word }, optOuts);
    await stop(1002, people(1));
    expect(await rehearse()).toBeUndefined();
    await stop(1001, people(1));
    expect(await rehearse()).toBe(1);
  });

  test('says when a send with a time of its own leaves, by zones, and until when that takes (D56)', async () => {
    const { send } = await sendingEndpoint({ templates });
    const headers = { ...dry, 'send-window': '09:00-20:00' };
    // The local times are 23:13 in Madrid, 19:13 in Buenos Aires and 14:13 in Los Angeles.
    const recipients = ['34911110001', '12135550001', '5491155550001', '33155550001'];
    const { body: answered } = await send(request(recipients), { headers });
    expect(answered.estimate).toMatchObject({
      seconds: (Date.parse('2023-11-15T08:00:00Z') - startMs) / 1_000 + 1,
      schedule: [
        {
          zones: ['America/Los_Angeles'],
          recipients: 1,
          first: '2023-11-14T22:13:20.000Z',
          last: '2023-11-14T22:13:20.000Z',
        },
        {
          zones: ['America/Buenos_Aires'],
          recipients: 1,
          first: '2023-11-14T22:13:20.000Z',
          last: '2023-11-14T22:13:20.002Z',
        },
        {
          zones: ['Europe/Madrid'],
          recipients: 1,
          first: '2023-11-15T08:00:00.000Z',
          last: '2023-11-15T08:00:00.002Z',
        },
        { zones: ['Europe/Paris'], recipients: 1, first: '2023-11-15T08:00:00.000Z', last: '2023-11-15T08:00:00.002Z' },
      ],
    });
    const { body: moment } = await send(request(people(1)), { headers: { ...dry, 'send-at': '2023-11-15T00:00:00Z' } });
    expect(moment.estimate.schedule).toEqual([
      { recipients: 1, first: '2023-11-15T00:00:00.000Z', last: '2023-11-15T00:00:00.000Z' },
    ]);
  });

  test('says the seconds at the pace of the number as it is stored, without changing it', async () => {
    const { send, paces, table } = await sendingEndpoint({ templates });
    const secondsOf = async () => {
      const { body: answered } = await send(request(people(8_990)), { headers: dry });
      return answered.estimate.seconds;
    };
    // The pace is 900 a second.
    expect(await secondsOf()).toBe(10);
    const competitor = makeDispatch(makeRecipients(4_500), {
      ...{ dispatchId: 'COMPETITOR', clientId: 1002, phoneNumberId: numberId, acceptedAtMs: startMs },
    });
    const store = acceptedDispatchesStore(tableOf(localDocumentClient(), table, { nowMs: () => startMs }));
    await store.store(competitor, AbortSignal.timeout(10_000));
    expect(await secondsOf()).toBe(10);
    await store.begin(competitor.head, AbortSignal.timeout(10_000));
    const before = await paces.find(numberId);
    // Half of its 8,990 turns are alternate; a sender's look is half a second.
    expect(await secondsOf()).toBe(16);
    expect(await paces.find(numberId)).toEqual(before);
  });

  test('says what is known of the portfolio: its limit, what this client had accepted, and when that does not fit (D51)', async () => {
    const channels = [
      makeListedChannel({ currentLimit: 'TIER_50' }),
      makeListedChannel({ clientId: 1002, waId: '5491100000002', phoneNumberId: '300000000000002' }),
    ];
    const { send, clock } = await sendingEndpoint({ templates, channels });
    const rehearse = async (count: number) => (await send(request(people(count)), { headers: dry })).body;
    const anotherClient = { caller: { clientId: 1002, permissions: [] } };
    for (const sent of [
      await send(request(people(8))),
      // The number belongs to another client of the WABA.
      await send({ ...request(people(9)), did: '5491100000002' }, { did: '5491100000002' }),
      // Dispatches of another client do not count for this one.
      await send(request(people(7)), anotherClient),
      await send(request(people(6)), { headers: dry }),
    ]) {
      expect(sent.status).toBe(200);
    }
    const fits = await rehearse(33);
    expect(fits.estimate.portfolio).toEqual({ people_a_day: 50, so_far: 17 });
    expect(fits).not.toHaveProperty('warning');
    clock.nowMs += 86_400_000;
    expect((await rehearse(1)).estimate.portfolio).toEqual({ people_a_day: 50, so_far: 17 });
    clock.nowMs += 1_000;
    expect((await rehearse(1)).estimate.portfolio).toEqual({ people_a_day: 50, so_far: 0 });
  });
});
