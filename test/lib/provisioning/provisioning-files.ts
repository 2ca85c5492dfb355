import fc from 'fast-check';
import { desiredPlatformApps } from '../../../lib/provisioning/desired-apps.ts';
import { desiredPlatformCredentials } from '../../../lib/provisioning/platform-credentials.ts';
import { credentialItem, provisionedChannels, provisionedItems } from '../../../lib/provisioning/provisioned-items.ts';
import { type ProvisioningFile, provisioningFile } from '../../../lib/provisioning/provisioning-file.ts';
import {
  type DesiredState,
  type ProvisionedState,
  placeText,
  provisioningPlan,
} from '../../../lib/provisioning/provisioning-plan.ts';
import { statesOf } from '../../support/provisioned-state.ts';

export const nothing: ProvisionedState = { items: [], platformCredentials: {}, platformApps: {} };
export const nowIso = '2026-11-20T12:00:00.000Z';

/** Returns the wanted state of a file; plain passwords stand for their hashes. */
export function wantedOf(file: ProvisioningFile, stored: ProvisionedState = nothing): DesiredState {
  const credentials = file.users.map((user) => credentialItem(user, { passwordHash: user.password ?? '' }));
  return {
    items: [...provisionedItems(file), ...provisionedChannels(file, nowIso), ...credentials],
    platformCredentials: desiredPlatformCredentials(stored.platformCredentials, file),
    platformApps: desiredPlatformApps(file),
  };
}

export const planFor = (stored: ProvisionedState, file: ProvisioningFile) =>
  provisioningPlan(stored, wantedOf(file, stored));

export function provisioned(file: ProvisioningFile, stored: ProvisionedState = nothing): ProvisionedState {
  const end = statesOf(stored, planFor(stored, file)).at(-1);
  if (end === undefined) throw new Error('no state');
  return end;
}

/** Sorts items and drops deleted channels, so that states are comparable. */
export const sorted = ({ items, platformCredentials, platformApps }: ProvisionedState) => ({
  items: items
    .filter(({ attributes }) => attributes['g'] !== true)
    .toSorted((a, b) => (placeText(a) < placeText(b) ? -1 : 1)),
  platformCredentials,
  platformApps,
});

export const subset = <T>(values: readonly T[]) => fc.subarray([...values]);
export const clientIds = [1, 2, 3];

/** The files are small and valid; every part may be absent and may have any owner. */
export const files: fc.Arbitrary<ProvisioningFile> = fc
  .record({
    clients: fc.subarray(clientIds, { minLength: 1 }),
    wabaClients: fc.tuple(subset(clientIds), subset(clientIds)),
    wabaCredentials: fc.tuple(fc.constantFrom('c1', 'c2'), fc.constantFrom('c1', 'c2')),
    wabaStops: fc.tuple(fc.constantFrom('waba', 'number'), fc.constantFrom('waba', undefined)),
    utilityStops: subset(clientIds),
    budgets: fc.array(
      fc.option(fc.record({ amount: fc.constantFrom(10, 20, 30), stop: fc.boolean() }), { nil: undefined }),
      { minLength: 3, maxLength: 3 },
    ),
    wabaDids: fc.tuple(fc.constantFrom('waba', 'own'), fc.constantFrom('waba', 'own', undefined)),
    tokens: fc.tuple(fc.constantFrom('token-11', 'token-12'), fc.constantFrom('token-21', 'token-11')),
    apps: fc.tuple(fc.constantFrom(undefined, 0, 1), fc.constantFrom(undefined, 0, 1)),
    appSecrets: fc.tuple(fc.constantFrom('secret-11', 'secret-12'), fc.constantFrom('secret-21', 'secret-22')),
    words: fc.constantFrom(undefined, ['basta'], ['fin', 'basta']),
    previousAppSecret: fc.constantFrom(undefined, 'secret-10'),
    channels: fc.array(
      fc.record({ waba: fc.nat(1), client: fc.nat(2), did: fc.nat(2), number: fc.nat(3), account: fc.nat(2) }),
      {
        maxLength: 2,
      },
    ),
    campaigns: fc.subarray([10, 11]),
    campaignOwner: fc.nat(2),
    users: fc.array(
      fc.record({
        client: fc.nat(2),
        password: fc.constantFrom('password-1', 'password-2'),
        permissions: subset(['BSP_CN']),
        campaigns: subset([10, 11]),
      }),
      { maxLength: 2 },
    ),
  })
  .map((drawn) => {
    const clientAt = (index: number) => drawn.clients[index % drawn.clients.length] ?? 1;
    const wabas = drawn.wabaClients.flatMap((ids, index) => {
      const client_ids = ids.filter((id) => drawn.clients.includes(id));
      const credential = drawn.wabaCredentials[index] ?? '';
      const names = { name: 'WABA', namespace: 'ns', business_id: 'b', business_name: 'Business' };
      const modes = { dids: drawn.wabaDids[index], platform_stops: drawn.wabaStops[index] };
      const facts = { client_ids, credential, ...modes, ...names };
      return client_ids.length === 0 ? [] : [{ waba_id: `20${index}`, ...facts }];
    });
    const campaigns = drawn.campaigns.map((campaign_id) => ({
      campaign_id,
      client_id: clientAt(drawn.campaignOwner),
      name: `Campaign ${campaign_id}`,
    }));
    const channels = drawn.channels.flatMap(({ waba, client, did, number, account }, index) => {
      const of = wabas[waba % Math.max(1, wabas.length)];
      if (of === undefined) return [];
      const client_id = of.client_ids[client % of.client_ids.length] ?? 0;
      const owner = { client_id, waba_id: of.waba_id };
      const ids = { channel_id: 501 + index, did: `5490000${did}${index}`, phone_number_id: `30${number}${index}` };
      const of_account = account === 0 ? {} : { messaging_account_id: `4${account}` };
      return [{ ...ids, ...owner, ...of_account, name: 'Channel', throughput_per_second: 80 }];
    });
    const users = drawn.users.map(({ client, password, permissions, campaigns: ids }, index) => {
      const client_id = clientAt(client);
      const own = campaigns.filter((campaign) => campaign.client_id === client_id).map((own) => own.campaign_id);
      const campaign_ids = ids.filter((id) => own.includes(id));
      return { username: `user${index}`, client_id, password, permissions, campaign_ids };
    });
    const platform_credentials = drawn.tokens.map((access_token, index) => ({
      name: `c${index + 1}`,
      access_token,
      app_id: '1',
    }));
    const platform_apps = drawn.appSecrets.map((app_secret, index) => ({
      id: `50${index}`,
      app_secret,
      ...(index === 0 ? { previous_app_secret: drawn.previousAppSecret } : {}),
      verify_token: 'verify-token',
      wabas: wabas.map(({ waba_id }) => waba_id).filter((_, at) => drawn.apps[at] === index),
    }));
    const clients = drawn.clients.map((client_id) => ({
      client_id,
      name: `Client ${client_id}`,
      opt_outs_for_utility: drawn.utilityStops.includes(client_id),
      monthly_budget: drawn.budgets[client_id - 1],
    }));
    const words = drawn.words === undefined ? {} : { opt_out_words: { stop: drawn.words } };
    const lists = { wabas, channels, campaigns, users, platform_credentials, platform_apps };
    return provisioningFile({ clients, ...lists, ...words }, []);
  });
