import demo from '../../infra/local/demo/provisioning.json' with { type: 'json' };
import type { ProvisioningFile } from '../../lib/provisioning/provisioning-file.ts';
import { acceptanceIds } from './ids.ts';

/*
 * The acceptance run uses the demo data under ids and names of its own. Its WABAs have no credential, so that the
 * service can neither send for them nor ask the platform anything.
 */

/** The mark begins the name of each client, so that a run recognizes its own clients and touches no other. */
export const mark = 'Acceptance: ';
export const usernameOf = (demoUser: string) => `acceptance-${demoUser}`;

export const testClientIds: readonly number[] = Object.values(acceptanceIds.clients);

const { clients, wabas, dids, channels, campaigns } = acceptanceIds;
const standIns = new Map<string | number, string | number>([
  [1, clients.operator],
  [1001, clients.andes],
  [1002, clients.boreal],
  ['200000000000001', wabas.shared],
  ['200000000000002', wabas.boreal],
  ['5491100000001', dids.andes],
  ['5491100000002', dids.boreal],
  ['5511900000003', dids.saoPaulo],
  [501, channels.andes],
  [502, channels.boreal],
  [503, channels.saoPaulo],
  [10, campaigns.onboarding],
  [11, campaigns.collections],
  [20, campaigns.reminders],
]);

/** Returns the id that stands for an id of the demo data. */
export function inPlaceOf<Id extends string | number>(id: Id): Id {
  const found = standIns.get(id);
  if (found === undefined) throw new Error(`nothing stands for ${id} of the demo data (test/acceptance/ids.ts)`);
  return found as Id;
}

export const acceptanceFile: ProvisioningFile = {
  clients: demo.clients.map(({ client_id, name }) => ({
    client_id: inPlaceOf(client_id),
    name: `${mark}${name}`,
    opt_outs_for_utility: false,
  })),
  wabas: demo.wabas.map((waba) => ({
    ...waba,
    waba_id: inPlaceOf(waba.waba_id),
    client_ids: waba.client_ids.map(inPlaceOf),
    credential: 'acceptance-has-none',
    dids: 'waba',
    platform_stops: 'number',
  })),
  channels: demo.channels.map((channel) => ({
    ...channel,
    channel_id: inPlaceOf(channel.channel_id),
    did: inPlaceOf(channel.did),
    client_id: inPlaceOf(channel.client_id),
    waba_id: inPlaceOf(channel.waba_id),
    // The platform has no such number: its ids are longer.
    phone_number_id: String(inPlaceOf(channel.channel_id)),
  })),
  campaigns: demo.campaigns.map((campaign) => ({
    ...campaign,
    campaign_id: inPlaceOf(campaign.campaign_id),
    client_id: inPlaceOf(campaign.client_id),
  })),
  users: demo.users.map(({ username, client_id, permissions, campaign_ids }) => ({
    username: usernameOf(username),
    client_id: inPlaceOf(client_id),
    permissions: permissions as ProvisioningFile['users'][number]['permissions'],
    campaign_ids: campaign_ids.map((id: number) => inPlaceOf(id)),
  })),
  platform_credentials: [],
  platform_apps: [],
};
