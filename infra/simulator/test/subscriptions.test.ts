import { describe, expect, test } from 'vitest';
import { demoApp, receiverOfFile } from './support/receiver-of-file.ts';
import { firstWaba, secondWaba, simulatorOfFile } from './support/simulator.ts';

const appToken = `${demoApp}|demo-app-secret`;
const simulator = simulatorOfFile({ afresh: true });
const receiver = receiverOfFile(simulator, { callback_url: null });

const tell = async (wabaId = firstWaba) => {
  await simulator.control('POST', 'webhooks', { waba_id: wabaId, field: 'account_update', value: { event: 'X' } });
  await simulator.control('POST', 'clock', { advance_seconds: 0 });
  return receiver.updates().map(({ wabaId: id }) => id);
};
const subscribed = async () => (await simulator.get(`${firstWaba}/subscribed_apps`)).body.data;
const demo = { id: demoApp, name: 'Demo gateway', link: expect.stringContaining(demoApp) };

describe('subscribed_apps of a WABA', () => {
  test('the demo app is; the app of the token goes and comes', async () => {
    await simulator.control('POST', `apps/${demoApp}`, { callback_url: receiver.url });
    expect(await subscribed()).toEqual([{ whatsapp_business_api_data: demo }]);
    const path = `/v25.0/${firstWaba}/subscribed_apps`;
    expect((await simulator.call('DELETE', path)).body).toEqual({ success: true });
    expect([await subscribed(), await tell()]).toEqual([[], []]);
    expect((await simulator.call('POST', path)).body).toEqual({ success: true });
    expect(await subscribed()).toEqual([{ whatsapp_business_api_data: demo }]);
    expect(await tell()).toEqual([firstWaba]);
  });

  test('another, unknown app beside it', async () => {
    const path = `/v25.0/${secondWaba}/subscribed_apps`;
    expect((await simulator.call('POST', path, undefined, 'second-waba-platform-token')).status).toBe(200);
    const { data } = (await simulator.get(`${secondWaba}/subscribed_apps`)).body;
    expect(data.map((one: { whatsapp_business_api_data: unknown }) => one.whatsapp_business_api_data)).toEqual([
      demo,
      { id: '100000000000002', name: 'App 100000000000002', link: expect.any(String) },
    ]);
  });

  test('an address of its own for this WABA, asked first', async () => {
    const override = { override_callback_uri: receiver.url, verify_token: 'right' };
    const wrong = { ...override, verify_token: 'wrong' };
    const refused = await simulator.post(`${firstWaba}/subscribed_apps`, wrong);
    expect([refused.status, refused.body.error.code]).toEqual([400, 2200]);
    expect(refused.body.error.message).toContain('HTTP Status Code = 403');
    expect((await simulator.post(`${firstWaba}/subscribed_apps`, override)).status).toBe(200);
    expect(await subscribed()).toEqual([{ whatsapp_business_api_data: demo, override_callback_uri: receiver.url }]);
    expect([await tell(), await tell(secondWaba)]).toEqual([[firstWaba], [firstWaba]]);
  });

  test('without the right to the WABA: 200', async () => {
    const path = `/v25.0/${firstWaba}/subscribed_apps`;
    const { status, body } = await simulator.call('GET', path, undefined, 'second-waba-platform-token');
    expect([status, body.error.code]).toEqual([403, 200]);
  });
});

describe('the callback of an app', () => {
  const path = `/v25.0/${demoApp}/subscriptions`;
  const callback = (changes: object = {}) => ({
    object: 'whatsapp_business_account',
    callback_url: receiver.url,
    verify_token: 'right',
    ...changes,
  });
  const subscribe = (changes: object = {}) => simulator.call('POST', path, callback(changes), appToken);
  const listed = async () => (await simulator.call('GET', path, undefined, appToken)).body.data;

  test('is asked with a challenge, is listed, is told of every WABA, and goes', async () => {
    await simulator.call('DELETE', path, undefined, appToken);
    expect(await listed()).toEqual([]);
    expect((await subscribe({ fields: 'messages, account_update' })).body).toEqual({ success: true });
    const [asked] = receiver.calls;
    expect(Object.fromEntries(asked?.query ?? [])).toEqual({
      'hub.mode': 'subscribe',
      'hub.verify_token': 'right',
      'hub.challenge': expect.stringMatching(/^\d+$/),
    });
    const fields = ['messages', 'account_update'].map((name) => ({ name, version: 'v26.0' }));
    const object = 'whatsapp_business_account';
    expect(await listed()).toEqual([{ object, callback_url: receiver.url, active: true, fields }]);
    await tell();
    expect(await tell(secondWaba)).toEqual([firstWaba, secondWaba]);
    expect((await simulator.call('DELETE', path, undefined, appToken)).body).toEqual({ success: true });
    receiver.forget();
    expect(await tell()).toEqual([]);
  });

  test.each<[string, object, number, RegExp]>([
    ['a word that the address does not know', { verify_token: 'wrong' }, 2200, /HTTP Status Code = 403/],
    ['no server there', { callback_url: 'http://127.0.0.1:9/hook' }, 2200, /verification failed/],
    ['no address', { callback_url: 'hook' }, 2200, /no address/],
    ['another object', { object: 'page' }, 100, /object must be/],
    ['no address given', { callback_url: undefined }, 100, /callback_url is required/],
  ])('%s: refused, and the old one stays', async (_, changes, code, message) => {
    await subscribe();
    const { status, body } = await subscribe(changes);
    expect([status, body.error.code]).toEqual([400, code]);
    expect(body.error.message).toMatch(message);
    expect(await listed()).toHaveLength(1);
  });

  test('takes the token of the app itself, and that reaches nothing else', async () => {
    expect((await simulator.call('GET', path)).body.error.code).toBe(15);
    expect((await simulator.call('GET', path, undefined, `${demoApp}|wrong`)).body.error.code).toBe(190);
    expect((await simulator.call('GET', `/v25.0/${firstWaba}`, undefined, appToken)).body.error.code).toBe(200);
  });
});
