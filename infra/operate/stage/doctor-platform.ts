import { directoryStore } from '../../../lib/access/directory-store.ts';
import type { PlatformCredentials } from '../../../lib/platform/credential-groups.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import type { PlatformTransport } from '../../../lib/platform/transport.ts';
import type { PlatformApps } from '../../../lib/platform/webhook/apps.ts';
import { subscribedApps, subscribedFields } from '../../../lib/provisioning/platform-subscriptions.ts';
import { readApps } from '../stored-apps.ts';
import { readCredentials } from '../stored-credentials.ts';
import type { Target } from '../target.ts';
import type { AppState, WabaState } from './doctor-rules.ts';
import type { Finding } from './findings.ts';
import { firstDayFindings } from './first-day.ts';

export interface AskedOf {
  readonly target: Target;
  readonly platform: PlatformTransport;
}

const askedAtATime = 10;

/**
 * Asks the platform about each WABA of a stage, with the WABA's credential. A failed call is a state. Throws
 * `UnreadableSecret`, and the errors of the stores.
 */
export async function wabasOf({ target, platform }: AskedOf): Promise<WabaState[]> {
  const [{ credentials }, apps] = await Promise.all([readCredentials(target), readApps(target)]);
  const wabas = await credentialsByWaba(target);
  const states: WabaState[] = [];
  const waiting = [...wabas];
  while (waiting.length > 0) {
    const some = waiting.splice(0, askedAtATime);
    states.push(
      ...(await Promise.all(
        some.map(([wabaId, credential]) => wabaState(platform, { wabaId, credential }, { credentials, apps })),
      )),
    );
  }
  return states;
}

/** Asks the platform about each app of a stage, with the app's secret. Throws as `wabasOf`. */
export async function appsOf({ target, platform }: AskedOf): Promise<AppState[]> {
  const apps = Object.entries(await readApps(target));
  return await Promise.all(
    apps.map(async ([appId, { appSecret }]): Promise<AppState> => {
      try {
        return { appId, fields: await subscribedFields(platform, { id: appId, secret: appSecret }) };
      } catch (error) {
        return { appId, failure: failureOf(error) };
      }
    }),
  );
}

/** Rethrows all but the platform's failures. */
function failureOf(error: unknown): NonNullable<WabaState['failure']> {
  if (!(error instanceof PlatformFailure)) throw error;
  return { refused: error.kind === 'refused', text: error.message };
}

async function credentialsByWaba(target: Target): Promise<ReadonlyMap<string, string>> {
  const directory = directoryStore(target.documentClient, target.tableName('directory'));
  const wabas = new Map<string, string>();
  for (const clientId of await directory.listClientIds()) {
    for (const { wabaId, credential } of await directory.listWabas(clientId)) wabas.set(wabaId, credential);
  }
  return wabas;
}

/**
 * Checks the facts about the platform for one WABA, by default the first (first-day.ts). Throws `UnreadableSecret`, and
 * the errors of the stores.
 */
export async function factsOf({ target, platform }: AskedOf, wabaId?: string): Promise<Finding[]> {
  const [{ credentials }, wabas] = await Promise.all([readCredentials(target), credentialsByWaba(target)]);
  const [first] = wabas.keys();
  const asked = wabaId ?? first;
  const credential = asked === undefined ? undefined : wabas.get(asked);
  const accessToken = credential === undefined ? undefined : credentials[credential]?.accessToken;
  if (asked === undefined || accessToken === undefined) {
    const which = wabaId === undefined ? 'no WABA is' : `the WABA ${wabaId} is not`;
    return [{ state: 'bad', text: `platform: ${which} provisioned with a credential; infra/ops provision FILE` }];
  }
  const findings = await firstDayFindings(platform, { wabaId: asked, accessToken });
  return [
    { state: 'good', text: `platform: asked about the WABA ${asked} with the credential ${credential}` },
    ...findings,
  ];
}

async function wabaState(
  platform: PlatformTransport,
  { wabaId, credential }: Pick<WabaState, 'wabaId' | 'credential'>,
  { credentials, apps }: { readonly credentials: PlatformCredentials; readonly apps: PlatformApps },
): Promise<WabaState> {
  const appId = Object.keys(apps).find((id) => apps[id]?.wabas.includes(wabaId));
  const waba = { wabaId, credential, appId };
  const accessToken = credentials[credential]?.accessToken;
  if (accessToken === undefined)
    return { ...waba, failure: { refused: true, text: 'the secret has no such credential' } };
  try {
    return { ...waba, subscribed: await subscribedApps(platform, wabaId, accessToken) };
  } catch (error) {
    return { ...waba, failure: failureOf(error) };
  }
}
