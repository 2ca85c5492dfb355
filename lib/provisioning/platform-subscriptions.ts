import * as v from 'valibot';
import { errorName } from '../observe/error-name.ts';
import type { PlatformCredentials } from '../platform/credential-groups.ts';
import { PlatformFailure } from '../platform/failure.ts';
import { readList } from '../platform/list-page.ts';
import type { PlatformTransport } from '../platform/transport.ts';
import { appOfWaba } from './desired-apps.ts';
import type { ProvisioningFile } from './provisioning-file.ts';

export type Subscription = { readonly wabaId: string } & (
  | { readonly state: 'there' | 'added' | 'missing'; readonly appId: string }
  | { readonly state: 'unknown'; readonly appId: string; readonly why: string }
  | { readonly state: 'no app' }
);

interface Asked {
  readonly call: PlatformTransport;
  readonly credentials: PlatformCredentials;
  /** Nothing is changed at the platform; a subscription that would be added is `missing`. */
  readonly dryRun: boolean;
}

const askedAtATime = 10;

/**
 * Subscribes each WABA of the file to its app, where needed. A failure of the platform is reported and stops nothing:
 * the next run repeats it.
 */
export async function subscribeWabas(file: ProvisioningFile, asked: Asked): Promise<Subscription[]> {
  const subscriptions: Subscription[] = [];
  for (let at = 0; at < file.wabas.length; at += askedAtATime) {
    const some = file.wabas.slice(at, at + askedAtATime);
    subscriptions.push(...(await Promise.all(some.map((waba) => subscribe(file, waba, asked)))));
  }
  return subscriptions;
}

async function subscribe(
  file: ProvisioningFile,
  { waba_id: wabaId, credential }: ProvisioningFile['wabas'][number],
  { call, credentials, dryRun }: Asked,
): Promise<Subscription> {
  const appId = appOfWaba(file, wabaId);
  if (appId === undefined) return { wabaId, state: 'no app' };
  const edge = edgeOf(wabaId, credentials[credential]?.accessToken ?? '');
  const isThere = async () => appsIn(await call({ ...edge, method: 'GET' })).includes(appId);
  try {
    if (await isThere()) return { wabaId, appId, state: 'there' };
    if (dryRun) return { wabaId, appId, state: 'missing' };
    await call({ ...edge, method: 'POST' });
    // The platform subscribes the token's own app, which may be another one.
    return { wabaId, appId, state: (await isThere()) ? 'added' : 'missing' };
  } catch (error) {
    return {
      wabaId,
      appId,
      state: 'unknown',
      why: error instanceof PlatformFailure ? error.message : errorName(error),
    };
  }
}

/** Returns the ids of a WABA's subscribed apps. Reads only; throws `PlatformFailure`. */
export async function subscribedApps(call: PlatformTransport, wabaId: string, accessToken: string): Promise<string[]> {
  return appsIn(await call({ ...edgeOf(wabaId, accessToken), method: 'GET' }));
}

const AppSubscriptionsSchema = v.object({
  data: v.array(
    v.object({
      object: v.string(),
      active: v.optional(v.boolean(), true),
      fields: v.optional(v.array(v.object({ name: v.string() })), []),
    }),
  ),
});

/**
 * Returns the webhook fields of an app, read with its own token. Returns undefined without an address, or when the
 * platform has switched it off. Throws `PlatformFailure`.
 */
export async function subscribedFields(
  call: PlatformTransport,
  app: { readonly id: string; readonly secret: string },
): Promise<readonly string[] | undefined> {
  const accessToken = `${app.id}|${app.secret}`;
  const { body } = await call({ method: 'GET', path: `${app.id}/subscriptions`, accessToken });
  const answer = v.safeParse(AppSubscriptionsSchema, body);
  if (!answer.success) throw new PlatformFailure('ambiguous');
  const ofWabas = answer.output.data.find(({ object, active }) => object === 'whatsapp_business_account' && active);
  return ofWabas?.fields.map(({ name }) => name);
}

function edgeOf(wabaId: string, accessToken: string) {
  return { path: `${wabaId}/subscribed_apps`, accessToken };
}

const SubscribedAppSchema = v.object({ whatsapp_business_api_data: v.object({ id: v.string() }) });

function appsIn(reply: Awaited<ReturnType<PlatformTransport>>): string[] {
  return readList(reply, undefined).entries.flatMap((entry) => {
    const app = v.safeParse(SubscribedAppSchema, entry);
    return app.success ? [app.output.whatsapp_business_api_data.id] : [];
  });
}
