import { createHash } from 'node:crypto';
import * as v from 'valibot';
import { graphError, notSimulated, unknownNode } from '../errors.ts';
import { parsedParameters } from '../parameters.ts';
import type { PlatformRequest } from '../platform-request.ts';
import { json, type Reply } from '../reply.ts';
import type { SeedToken } from '../seed.ts';
import type { World } from '../state.ts';
import type { Waba } from '../wabas.ts';
import type { App } from './app-registry.ts';
import { refusalOf } from './handshake.ts';

const OverrideSchema = v.object({
  override_callback_uri: v.optional(v.string()),
  verify_token: v.optional(v.string()),
});

const CallbackSchema = v.object({
  object: v.literal('whatsapp_business_account'),
  callback_url: v.string(),
  verify_token: v.string(),
  fields: v.optional(v.union([v.string(), v.array(v.string())])),
});

/** Answers `GET /{waba_id}/subscribed_apps` (platform reference, 8). */
export function listSubscribedApps(world: World, waba: Waba): Reply {
  return json(subscribedApps(world, waba.id));
}

/** Lists the apps, also for the field of the WABA. */
export function subscribedApps(world: World, wabaId: string) {
  const data = world.apps.subscriptionsOf(wabaId).map(({ appId, overrideCallbackUri }) => ({
    whatsapp_business_api_data: {
      id: appId,
      name: world.apps.get(appId)?.name ?? appId,
      link: `https://www.facebook.com/games/?app_id=${appId}`,
    },
    override_callback_uri: overrideCallbackUri,
  }));
  return { data };
}

/** Answers `POST /{waba_id}/subscribed_apps`: subscribes the token's app to the WABA, perhaps with another address. */
export async function subscribeApp(world: World, waba: Waba, request: PlatformRequest): Promise<Reply> {
  const app = appOf(world, request);
  const { override_callback_uri: uri, verify_token: token } = parsedParameters(OverrideSchema, request.parameters);
  if (uri !== undefined) await requireHandshake(world, uri, token);
  world.apps.subscribe(waba.id, { appId: app.id, overrideCallbackUri: uri });
  return json({ success: true });
}

/** Answers `DELETE /{waba_id}/subscribed_apps`. */
export function unsubscribeApp(world: World, waba: Waba, request: PlatformRequest): Reply {
  world.apps.unsubscribe(waba.id, appOf(world, request).id);
  return json({ success: true });
}

function appOf(world: World, { token }: PlatformRequest): App {
  const id = token?.app_id;
  if (id === undefined) throw graphError(100, '(#100) The access token belongs to no app.');
  return world.apps.get(id) ?? world.apps.put({ id, name: `App ${id}` });
}

/**
 * Answers `GET`, `POST` and `DELETE /{app_id}/subscriptions` with the app's own token (id, `|` and secret): its
 * callback for all WABAs. Returns undefined for any other request.
 */
export function answerAppSubscriptions(
  world: World,
  call: { readonly token: SeedToken; readonly nodeId: string; readonly operation: string },
  request: PlatformRequest,
): Promise<Reply> | undefined {
  const app = world.apps.get(call.nodeId);
  if (app === undefined || !call.operation.endsWith(' subscriptions')) return undefined;
  return appSubscriptions(world, app, { ...call, request });
}

async function appSubscriptions(
  world: World,
  app: App,
  call: { readonly token: SeedToken; readonly operation: string; readonly request: PlatformRequest },
): Promise<Reply> {
  const { token, operation, request } = call;
  if (!isAppToken(token)) throw graphError(15, '(#15) This method must be called with an app access token.');
  if (token.app_id !== app.id) throw unknownNode(request.method, app.id);
  if (operation === 'GET subscriptions') return json({ data: subscriptionsOf(app) });
  if (operation === 'DELETE subscriptions') {
    world.apps.put({ ...app, callback: undefined });
    return json({ success: true });
  }
  if (operation !== 'POST subscriptions') throw notSimulated(app.id, operation);
  const given = parsedParameters(CallbackSchema, request.parameters);
  await requireHandshake(world, given.callback_url, given.verify_token);
  const fields = typeof given.fields === 'string' ? given.fields.split(',').map((name) => name.trim()) : given.fields;
  world.apps.put({ ...app, callback: { url: given.callback_url, fields } });
  return json({ success: true });
}

function subscriptionsOf({ callback }: App): readonly object[] {
  if (callback === undefined) return [];
  const fields = callback.fields?.map((name) => ({ name, version: 'v26.0' }));
  return [
    {
      object: 'whatsapp_business_account',
      callback_url: callback.url,
      active: true,
      fields,
    },
  ];
}

/** Reads a token that reaches no WABA. It comes from `GET /oauth/access_token`, or is id and secret. */
export function appToken(world: World, text: string): SeedToken | undefined {
  const [id = '', rest] = text.split('|');
  const { secret } = (rest === undefined ? undefined : world.apps.get(id)) ?? {};
  if (secret === undefined || ![`${id}|${secret}`, tokenOfApp({ id, secret })].includes(text)) return undefined;
  return { token: text, app_id: id, waba_ids: [] };
}

export function tokenOfApp({ id, secret }: { readonly id: string; readonly secret: string }): string {
  return `${id}|${createHash('sha256').update(`${id} ${secret}`).digest('base64url').slice(0, 27)}`;
}

function isAppToken({ token }: SeedToken): boolean {
  return token.includes('|');
}

async function requireHandshake(world: World, url: string, verifyToken = ''): Promise<void> {
  const refusal = await refusalOf(url, verifyToken, world.nextChallenge());
  if (refusal === undefined) return;
  throw graphError(2200, `(#2200) Callback verification failed with the following errors: ${refusal}`);
}
