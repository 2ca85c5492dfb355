import { expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformCall, PlatformTransport } from '../../../lib/platform/transport.ts';
import { subscribeWabas } from '../../../lib/provisioning/platform-subscriptions.ts';
import { provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import { subscriptionLines } from '../../../lib/provisioning/subscription-lines.ts';

const [first, second] = ['200000000000001', '200000000000002'] as const;
const appId = '500000000000001';
const file = provisioningFile(demo, []);
const credentials = { demo: { accessToken: 'demo-platform-token', appId: '100000000000001' } };

/** The platform has these subscriptions by WABA; the subscriber is the app of the token. */
function platformWith(subscribed: Readonly<Record<string, string[]>>, tokensApp = appId) {
  const apps = new Map(Object.entries(subscribed));
  const calls: string[] = [];
  const call: PlatformTransport = async ({ method, path, accessToken }: PlatformCall) => {
    calls.push(`${method} ${path}`);
    expect(accessToken).toBe('demo-platform-token');
    const of = apps.get(path.split('/')[0] ?? '');
    if (of === undefined) throw new PlatformFailure('refused', { httpStatus: 400, code: 100 });
    if (method === 'POST') of.push(tokensApp);
    const data = of.map((id) => ({ whatsapp_business_api_data: { id, name: `App ${id}` } }));
    return { body: method === 'POST' ? { success: true } : { data: [...data, 'nonsense'] } };
  };
  return { call, calls };
}

const subscribed = (platform: { readonly call: PlatformTransport }, dryRun = false, of = file) =>
  subscribeWabas(of, { call: platform.call, credentials, dryRun });

test('what is subscribed is left as it is, and needs no word', async () => {
  const platform = platformWith({ [first]: ['7', appId], [second]: [appId] });
  const subscriptions = await subscribed(platform);
  expect(subscriptions.map(({ state }) => state)).toEqual(['there', 'there']);
  expect(platform.calls.filter((each) => each.startsWith('POST'))).toEqual([]);
  expect(subscriptionLines(subscriptions)).toEqual([]);
});

test('what is not is subscribed; a dry run only says so', async () => {
  const platform = platformWith({ [first]: [], [second]: [appId] });
  expect(subscriptionLines(await subscribed(platform, true))).toEqual([
    `warning: WABA ${first} is not subscribed to platform app ${appId}`,
  ]);
  expect(platform.calls.filter((each) => each.startsWith('POST'))).toEqual([]);
  expect(subscriptionLines(await subscribed(platform))).toEqual([
    `WABA ${first} is now subscribed to platform app ${appId}`,
  ]);
  expect(subscriptionLines(await subscribed(platform))).toEqual([]);
});

test('a token of another app subscribes that one: the WABA is still not subscribed, and is named', async () => {
  const platform = platformWith({ [first]: [], [second]: [appId] }, '7');
  expect(subscriptionLines(await subscribed(platform))).toEqual([
    `warning: WABA ${first} is not subscribed to platform app ${appId}`,
  ]);
});

test('what the platform refuses is a warning, and the other WABAs are looked at all the same', async () => {
  const lines = subscriptionLines(await subscribed(platformWith({ [second]: [] })));
  expect(lines).toEqual([
    `warning: whether WABA ${first} is subscribed to platform app ${appId} is not known: platform call refused, code 100`,
    `WABA ${second} is now subscribed to platform app ${appId}`,
  ]);
  expect(lines.join()).not.toContain('demo-platform-token');
});

test('a WABA without an app is named; where there are no apps at all, one line says so', async () => {
  const [app] = demo.platform_apps;
  const without = provisioningFile({ ...demo, platform_apps: [{ ...app, wabas: [second] }] }, []);
  const platform = platformWith({ [second]: [appId] });
  expect(subscriptionLines(await subscribed(platform, false, without))).toEqual([
    `warning: WABA ${first} has no platform app: no webhook tells what becomes of its messages`,
  ]);
  const none = provisioningFile({ ...demo, platform_apps: [] }, []);
  expect(subscriptionLines(await subscribed(platform, false, none))).toEqual([
    'there are no platform apps: no webhook tells what becomes of messages',
  ]);
});
