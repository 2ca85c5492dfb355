import { describe, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { sendable as templates } from '../support/platform-templates.ts';
import { sendRequest, storedDispatches } from '../support/send-requests.ts';
import { sendingEndpoint, startMs } from '../support/sending.ts';
import { localDocumentClient } from '../support/stores.ts';

const to = '5491155550001';
const plain = sendRequest([to]);

describe('a send with a time of its own (D56, R54)', () => {
  // The clock stands at 2023-11-14T22:13:20Z, which is 19:13 in Buenos Aires.
  const hours = { 'send-window': '09:00-18:00' };
  const opensMs = Date.parse('2023-11-15T12:00:00Z');

  test('is stored, also to one recipient, with its lots and with what the places of the request were', async () => {
    const { send, accepted, table } = await sendingEndpoint({ templates });
    const sent = { ...plain, recipients: [{ to }, { to: '12135550001' }] };
    for (const body of [plain, sent]) expect(await send(body, { headers: hours })).toMatchObject({ status: 200 });
    const { wakes, requests } = await accepted();
    // A sweep wakes what opens tomorrow.
    expect([wakes.map(({ dispatchId }) => dispatchId), requests]).toEqual([['DISPATCH2'], []]);
    const one = await storedDispatches(table).find('DISPATCH1');
    expect(one).toMatchObject({
      head: { when: { asked: { window: '09:00-18:00' }, fromMs: opensMs } },
      lots: [{ until: 1, open: expect.arrayContaining([[opensMs, opensMs + 9 * 3_600_000]]) }],
    });
    expect(one).not.toMatchObject({ positions: expect.anything() });
    // Los Angeles is in its hours now.
    expect(await storedDispatches(table).find('DISPATCH2')).toMatchObject({
      head: { when: { fromMs: startMs } },
      lots: [{ until: 1 }, { until: 2 }],
      positions: [1, 0],
    });
    const parameters = await parameterStore(tableOf(localDocumentClient(), table)).read('DISPATCH2', 0);
    expect(parameters.map((recipient) => recipient.to)).toEqual(['12135550001', to]);
  });

  test('belongs to what an Idempotency-Key compares: another time is 422, the same is answered even when it has passed', async () => {
    const { send, queueAttempts, clock } = await sendingEndpoint({ templates });
    const headers = { 'idempotency-key': 'order-17', 'send-at': '2023-11-15T09:00:00Z' };
    const first = await send(plain, { headers });
    expect(first.status).toBe(200);
    for (const other of [{ 'send-at': '2023-11-15T09:00:01Z' }, { ...hours }, { 'send-days': 'mon' }]) {
      expect(await send(plain, { headers: { ...headers, ...other } })).toMatchObject({
        status: 422,
        body: { code: 'idempotency_key_reused' },
      });
    }
    expect(await send(plain, { headers: { 'idempotency-key': 'order-17' } })).toMatchObject({ status: 422 });
    clock.nowMs += 86_400_000;
    expect(await send(plain, { headers })).toEqual(first);
    // A sweep wakes its sender.
    expect(queueAttempts).toHaveLength(0);
    expect(await send(plain, { headers: { 'send-at': headers['send-at'] } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'Send-At' }] },
    });
  });

  test('any other header that begins with Send- is 400, and nothing is queued', async () => {
    const { send, queueAttempts } = await sendingEndpoint({ templates });
    expect(await send(plain, { headers: { ...hours, 'send-day': 'mon' } })).toMatchObject({
      status: 400,
      body: { errors: [{ path: 'send-day', message: 'unrecognized field: send-day; did you mean Send-Days?' }] },
    });
    expect(queueAttempts).toEqual([]);
  });
});
