import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CallbackReceiver, callbackReceiver } from '#simulator/test/callback-receiver';
import { recipient, type SimulatorAtRest, simulatorAtRest } from '#simulator/test/simulator';
import document from '../../../functions/openapi.json' with { type: 'json' };
import { subscribeCallback } from '../../../infra/local/platform-callback.ts';
import { explained, explanations } from '../../../infra/operate/see/explanations.ts';

let simulator: SimulatorAtRest;
let api: CallbackReceiver;
beforeAll(async () => {
  [simulator, api] = await Promise.all([simulatorAtRest(), callbackReceiver('demo-verify-token')]);
});
afterAll(() => Promise.all([simulator.stop(), api.stop()]));

test('an API that does not answer the challenge: a sentence, and nothing is sent', async () => {
  const stranger = await callbackReceiver('another');
  expect(await subscribeCallback(simulator.url, stranger.origin)).toMatch(/verification failed .* = 403$/);
  await simulator.send(recipient);
  await simulator.control('POST', 'clock', { advance_seconds: 10 });
  expect(stranger.updates()).toEqual([]);
  await stranger.stop();
});

test('an API that does: what becomes of messages of both WABAs comes to /platform/webhook', async () => {
  expect(await subscribeCallback(simulator.url, api.origin)).toBeUndefined();
  // The stack asks first and waits for a slow start; then the platform asks, which does not wait.
  expect(api.calls.map(({ query }) => query.get('hub.challenge') === 'once-before')).toEqual([true, false]);
  await simulator.send(recipient);
  for (const waba of ['200000000000001', '200000000000002']) {
    await simulator.control('POST', 'webhooks', { waba_id: waba, field: 'account_update', value: {} });
  }
  await simulator.control('POST', 'clock', { advance_seconds: 10 });
  expect(new Set(api.updates().map(({ wabaId, field }) => `${field} ${wabaId}`))).toEqual(
    new Set(['messages 200000000000001', 'account_update 200000000000001', 'account_update 200000000000002']),
  );
  const { body } = await simulator.control('GET', 'webhooks?limit=1');
  expect(body.data[0].url).toBe(`${api.origin}/platform/webhook`);
});

test('the console hears of the service: where it is, its demo users and document, and every code that it explains', async () => {
  await simulator.control('POST', 'service', { url: null, users: [], document: { paths: {} }, codes: [] });
  await subscribeCallback(simulator.url, api.origin);
  const { body } = await simulator.control('GET', 'service');
  expect([body.url, body.users[0].username]).toEqual([api.origin, 'operator']);
  expect((await simulator.call('GET', '/console/openapi.json')).body).toEqual(document);
  for (const code of [...new Set(explanations.map((each) => each.code)), '2388023', 'http_502', '204']) {
    const told = await simulator.control('GET', `service/codes/${encodeURIComponent(code)}`);
    expect(told.body.data, code).toEqual(explained(code));
  }
});
