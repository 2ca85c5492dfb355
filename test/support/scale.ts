import type { ProvisioningFile } from '../../lib/provisioning/provisioning-file.ts';
import type { Pair } from '../../lib/templates/assignments/pairs.ts';
import type { PlatformTemplate } from '../../lib/templates/model/template.ts';
import { seededRandom } from './faults.ts';

// The test data have any amount: one seed gives the same bytes, and a smaller amount is the beginning of a larger one.

type Random = () => number;

const subjects = ['order', 'invoice', 'booking', 'delivery', 'refund', 'visit', 'policy', 'loyalty'] as const;
const occasions = ['update', 'reminder', 'received', 'offer', 'follow_up', 'survey', 'welcome', 'notice'] as const;
const categories = ['UTILITY', 'UTILITY', 'MARKETING', 'AUTHENTICATION'] as const;
const statuses = ['APPROVED', 'APPROVED', 'APPROVED', 'PENDING', 'REJECTED', 'PAUSED'] as const;
const qualities = ['GREEN', 'GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const;
const languages = ['en_US', 'pt_BR', 'es'] as const;
const goneShare = 0.02;

/**
 * Makes templates of one WABA as the platform lists them: names of about 20 letters, each in three languages; one in
 * fifty is PENDING_DELETION. The components' JSON has exactly `bodyBytes` bytes (at least 100); nothing else depends on
 * that size.
 */
export function templatesAtScale(scale: {
  readonly seed: number;
  readonly count: number;
  readonly bodyBytes: number;
}): PlatformTemplate[] {
  const facts = seededRandom(scale.seed);
  const words = seededRandom(scale.seed + 1);
  return Array.from({ length: scale.count }, (_, index) => {
    const nameIndex = Math.floor(index / languages.length);
    const subject = subjects[nameIndex % subjects.length];
    const occasion = occasions[Math.floor(nameIndex / subjects.length) % occasions.length];
    return {
      id: String(1_627_019_861_000_000 + index),
      name: `${subject}_${occasion}_${String(nameIndex).padStart(5, '0')}`,
      language: languages[index % languages.length] as string,
      status: facts() < goneShare ? 'PENDING_DELETION' : oneOf(statuses, facts),
      category: categories[nameIndex % categories.length] as string,
      parameter_format: 'POSITIONAL',
      quality_score: { score: oneOf(qualities, facts) },
      components: componentsOf(scale.bodyBytes, words),
    };
  });
}

function componentsOf(bytes: number, random: Random): PlatformTemplate['components'] {
  const components = (text: string) => [{ type: 'BODY', text }];
  return components(prose(bytes - JSON.stringify(components('')).length, random));
}

/** Makes ASCII text of made-up words that compresses to about half, as people's prose does. */
function prose(length: number, random: Random): string {
  let text = '';
  while (text.length < length) text += `${Math.floor(random() * 3_000).toString(27)} `;
  return text.slice(0, length);
}

const firstClientId = 1001;
const firstWabaId = 200_000_000_000_001;

/**
 * Makes a provisioning file: each client has one WABA, shared with the next client, and its own channels and campaigns.
 * User `agent<client id>` has all campaigns of the client; `operator` has `BSP_CN`.
 */
export function clientsAtScale(scale: {
  readonly seed: number;
  readonly clients: number;
  readonly channelsEach: number;
  readonly campaignsEach: number;
}): ProvisioningFile {
  const random = seededRandom(scale.seed);
  const clients = Array.from({ length: scale.clients }, (_, index) => ({
    client_id: firstClientId + index,
    name: `${oneOf(subjects, random)} house ${index}`,
    opt_outs_for_utility: false,
  }));
  const ids = clients.map(({ client_id }) => client_id);
  const wabaIdOf = (index: number) => String(firstWabaId + index);
  const campaigns = ids.flatMap((client_id, client) =>
    Array.from({ length: scale.campaignsEach }, (_, index) => ({
      campaign_id: 10 + client * scale.campaignsEach + index,
      client_id,
      name: `${oneOf(subjects, random)} ${oneOf(occasions, random)}`,
    })),
  );
  return {
    platform_apps: [],
    clients,
    wabas: ids.map((clientId, index) => ({
      waba_id: wabaIdOf(index),
      name: `WABA ${index}`,
      namespace: `namespace_${Math.floor(random() * 2 ** 32).toString(16)}`,
      client_ids: [clientId, clientId + 1].filter((id) => ids.includes(id)),
      credential: 'scale',
      dids: 'waba' as const,
      platform_stops: 'number' as const,
      business_id: String(400_000_000_000_001 + index),
      business_name: `Business ${index}`,
    })),
    channels: ids.flatMap((client_id, client) =>
      Array.from({ length: scale.channelsEach }, (_, index) => {
        const number = client * scale.channelsEach + index;
        return {
          channel_id: 501 + number,
          did: String(5_491_100_000_001 + number),
          name: `Line ${index}`,
          client_id,
          waba_id: wabaIdOf(client),
          phone_number_id: String(300_000_000_000_001 + number),
          throughput_per_second: oneOf([80, 1_000], random),
        };
      }),
    ),
    campaigns,
    users: [
      ...ids.map((client_id) => ({
        username: `agent${client_id}`,
        client_id,
        password: `password of ${client_id}`,
        permissions: [],
        campaign_ids: campaigns.filter((campaign) => campaign.client_id === client_id).map((each) => each.campaign_id),
      })),
      {
        username: 'operator',
        client_id: firstClientId,
        password: 'password of the operator',
        permissions: ['BSP_CN'],
        campaign_ids: [],
      },
    ],
    platform_credentials: [{ name: 'scale', access_token: 'token-at-scale', app_id: '700000000000001' }],
  };
}

/** Makes a client's assignments, template by template: one in five has none, most have one pair, few have more. */
export function assignmentsAtScale(
  { channels, campaigns }: Pick<ProvisioningFile, 'channels' | 'campaigns'>,
  scale: { readonly seed: number; readonly count: number; readonly clientId: number },
): Pair[][] {
  const random = seededRandom(scale.seed);
  const pairs = campaigns
    .filter(({ client_id }) => client_id === scale.clientId)
    .flatMap(({ campaign_id: campaignId }) =>
      channels
        .filter(({ client_id }) => client_id === scale.clientId)
        .map(({ channel_id: channelId }) => ({ channelId, campaignId })),
    );
  return Array.from({ length: scale.count }, () => {
    const number = oneOf([0, 1, 1, 1, 1, 1, 1, 2, 3, 0], random);
    const first = Math.floor(random() * pairs.length);
    return Array.from({ length: number }, (_, index) => pairs[(first + index) % pairs.length] as Pair);
  });
}

function oneOf<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}
