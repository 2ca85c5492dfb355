import type { Fault } from '../http/refusal.ts';
import type { ProvisioningFile } from './provisioning.ts';

/** Faults between the entries of a provisioning file: doubles, and references to what is not there or not theirs. */
export function relationFaults(file: ProvisioningFile, storedCredentials: Iterable<string>): Fault[] {
  return [...doubles(file), ...wabaFaults(file, storedCredentials), ...channelFaults(file), ...ownerFaults(file)];
}

/** Values that must be there once only, with the paths where they stand. */
function doubles(file: ProvisioningFile): Fault[] {
  const unique = <Entry>(list: string, entries: readonly Entry[], keys: readonly (keyof Entry & string)[]) =>
    keys.flatMap((key) =>
      repeated(
        entries.map((entry) => entry[key]),
        (index) => `${list}[${index}].${key}`,
      ),
    );
  return [
    ...unique('clients', file.clients, ['client_id']),
    ...unique('wabas', file.wabas, ['waba_id']),
    ...unique('channels', file.channels, ['channel_id', 'did', 'phone_number_id']),
    ...unique('campaigns', file.campaigns, ['campaign_id']),
    ...unique('users', file.users, ['username']),
    ...unique('platform_credentials', file.platform_credentials, ['name']),
    ...file.wabas.flatMap((waba, at) => repeated(waba.client_ids, (index) => `wabas[${at}].client_ids[${index}]`)),
    ...file.users.flatMap((user, at) => [
      ...repeated(user.permissions, (index) => `users[${at}].permissions[${index}]`),
      ...repeated(user.campaign_ids, (index) => `users[${at}].campaign_ids[${index}]`),
    ]),
  ];
}

function repeated(values: readonly unknown[], pathAt: (index: number) => string): Fault[] {
  return values.flatMap((value, index) =>
    values.indexOf(value) === index ? [] : [{ path: pathAt(index), message: `${value} is there twice` }],
  );
}

function wabaFaults(file: ProvisioningFile, storedCredentials: Iterable<string>): Fault[] {
  const clients = new Set(file.clients.map(({ client_id }) => client_id));
  const credentials = new Set([...storedCredentials, ...file.platform_credentials.map(({ name }) => name)]);
  return file.wabas.flatMap((waba, at) => [
    ...waba.client_ids.flatMap((clientId, index) =>
      clients.has(clientId) ? [] : [unknown(`wabas[${at}].client_ids[${index}]`, `client ${clientId}`)],
    ),
    ...(credentials.has(waba.credential)
      ? []
      : [unknown(`wabas[${at}].credential`, `platform credential ${waba.credential}`)]),
  ]);
}

function channelFaults(file: ProvisioningFile): Fault[] {
  const wabas = new Map(file.wabas.map((waba) => [waba.waba_id, waba]));
  return file.channels.flatMap(({ waba_id, client_id }, at) => {
    const waba = wabas.get(waba_id);
    if (waba === undefined) return [unknown(`channels[${at}].waba_id`, `WABA ${waba_id}`)];
    if (waba.client_ids.includes(client_id)) return [];
    const message = `client ${client_id} does not work with WABA ${waba_id}`;
    return [{ path: `channels[${at}].client_id`, message }];
  });
}

/** Campaigns and users belong to clients; a user's campaigns belong to the user's client. */
function ownerFaults(file: ProvisioningFile): Fault[] {
  const clients = new Set(file.clients.map(({ client_id }) => client_id));
  const ownerOfCampaign = new Map(file.campaigns.map(({ campaign_id, client_id }) => [campaign_id, client_id]));
  const owned = (list: 'campaigns' | 'users') =>
    file[list].flatMap(({ client_id }, at) =>
      clients.has(client_id) ? [] : [unknown(`${list}[${at}].client_id`, `client ${client_id}`)],
    );
  const usersCampaigns = file.users.flatMap((user, at) =>
    user.campaign_ids.flatMap((campaignId, index) => {
      const path = `users[${at}].campaign_ids[${index}]`;
      const owner = ownerOfCampaign.get(campaignId);
      if (owner === undefined) return [unknown(path, `campaign ${campaignId}`)];
      return owner === user.client_id ? [] : [{ path, message: `campaign ${campaignId} belongs to client ${owner}` }];
    }),
  );
  return [...owned('campaigns'), ...owned('users'), ...usersCampaigns];
}

function unknown(path: string, what: string): Fault {
  return { path, message: `${what} is not in the file` };
}
