import { beforeEach, expect, test } from 'vitest';
import demo from '../../../infra/local/demo/provisioning.json' with { type: 'json' };
import { UnreadableSecret } from '../../../infra/operate/parsed-secret.ts';
import { appsOf, wabasOf } from '../../../infra/operate/stage/doctor-platform.ts';
import { provision } from '../../../infra/operate/tables/provisioning-run.ts';
import type { Target } from '../../../infra/operate/target.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import { provisioningTarget, someCredentials } from '../../support/provisioning-target.ts';
import type { SecretsInMemory } from '../../support/secrets.ts';

let secrets: SecretsInMemory;
let target: Target;

beforeEach(async () => {
  ({ target, secrets } = await provisioningTarget());
});

const tokens = demo.platform_credentials.map((credential) => credential.access_token);
const [app] = demo.platform_apps;

/** The platform knows the tokens of the demo file, and the app is subscribed to every WABA. */
const platform: PlatformTransport = async ({ accessToken }) => {
  if (!tokens.includes(accessToken)) throw new PlatformFailure('refused', { code: 190 });
  return { body: { data: [{ whatsapp_business_api_data: { id: app?.id, name: 'a', link: 'b' } }] } };
};

const wellKnown = demo.wabas.map(({ waba_id: wabaId, credential }) => ({
  wabaId,
  credential,
  appId: app?.id,
  subscribed: [app?.id],
}));

/** One secret cannot hold so many credentials. */
const many = someCredentials(300);

test('each WABA is asked about with its credential', async () => {
  await provision(demo, target);
  expect(await wabasOf({ target, platform })).toEqual(wellKnown);
});

test('also where the credentials are in the secrets of their groups', async () => {
  await provision({ ...demo, platform_credentials: [...demo.platform_credentials, ...many] }, target);
  expect(JSON.parse(secrets.texts.get('PLATFORM_CREDENTIALS_SECRET') ?? '')).toEqual({ groups: 32 });
  expect(await wabasOf({ target, platform })).toEqual(wellKnown);
});

test('a secret that cannot be read is named, that of a group by its own name, without a word of what is in it', async () => {
  await provision({ ...demo, platform_credentials: [...demo.platform_credentials, ...many] }, target);
  secrets.texts.set('PLATFORM_CREDENTIALS_SECRET-07', '{"canary":"canary-token"}');
  const error = await wabasOf({ target, platform }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UnreadableSecret);
  expect(String(error)).toContain('in the secret PLATFORM_CREDENTIALS_SECRET-07 are no platform credentials');
  expect(String(error)).not.toContain('canary');
});

test('a token that the platform refuses, and one missing in the secret, are reported', async () => {
  await provision(demo, target);
  const refusing: PlatformTransport = async () => await Promise.reject(new PlatformFailure('refused', { code: 190 }));
  const failure = { refused: true, text: 'platform call refused, code 190' };
  expect(await wabasOf({ target, platform: refusing })).toMatchObject(wellKnown.map(() => ({ failure })));
  secrets.texts.set('PLATFORM_CREDENTIALS_SECRET', '{}');
  const none = { refused: true, text: 'the secret has no such credential' };
  expect(await wabasOf({ target, platform })).toMatchObject(wellKnown.map(() => ({ failure: none })));
});

test('each app is asked for its subscriptions with its own secret; an empty answer and a refusal are reported', async () => {
  await provision(demo, target);
  const subscription = { object: 'whatsapp_business_account', callback_url: 'https://a', active: true };
  const fields = ['messages', 'standby'].map((name) => ({ name, version: 'v26.0' }));
  const askedBy = async (data: unknown) => {
    const calls: unknown[] = [];
    const answering: PlatformTransport = async (call) => {
      calls.push(call);
      return { body: { data } as never };
    };
    return { states: await appsOf({ target, platform: answering }), calls };
  };
  const { states, calls } = await askedBy([
    { ...subscription, object: 'page' },
    { ...subscription, fields },
  ]);
  expect(states).toEqual([{ appId: app?.id, fields: ['messages', 'standby'] }]);
  expect(calls).toEqual([
    { method: 'GET', path: `${app?.id}/subscriptions`, accessToken: `${app?.id}|${app?.app_secret}` },
  ]);
  const none = [{ appId: app?.id, fields: undefined }];
  expect((await askedBy([])).states).toEqual(none);
  expect((await askedBy([{ ...subscription, fields, active: false }])).states).toEqual(none);
  expect((await askedBy([subscription])).states).toEqual([{ appId: app?.id, fields: [] }]);
  expect((await askedBy('x')).states).toMatchObject([{ failure: { refused: false } }]);
  const refusing: PlatformTransport = async () => await Promise.reject(new PlatformFailure('refused', { code: 190 }));
  const failure = { refused: true, text: 'platform call refused, code 190' };
  expect(await appsOf({ target, platform: refusing })).toEqual([{ appId: app?.id, failure }]);
});
