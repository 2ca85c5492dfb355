import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { demoSeed, startSimulator } from '#simulator/contract';
import { channelCampaignsAdd } from '../../../functions/channel-campaigns-add.ts';
import { channelCampaignsRemove } from '../../../functions/channel-campaigns-remove.ts';
import { channelCampaignsReplace } from '../../../functions/channel-campaigns-replace.ts';
import { templatesCreate } from '../../../functions/templates-create.ts';
import { templatesDelete } from '../../../functions/templates-delete.ts';
import { templatesEdit } from '../../../functions/templates-edit.ts';
import { templatesList } from '../../../functions/templates-list.ts';
import { templatesStatus } from '../../../functions/templates-status.ts';
import { templatesSync } from '../../../functions/templates-sync.ts';
import type { Endpoint } from '../../../lib/http/endpoint.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import { pairFaults } from '../../../lib/templates/assignments/assignment-request.ts';
import { assignmentStore } from '../../../lib/templates/assignments/assignment-store.ts';
import { templateManagement } from '../../../lib/templates/authoring/platform-template-management.ts';
import { creationStore } from '../../../lib/templates/create/creation-store.ts';
import { platformTemplates } from '../../../lib/templates/model/platform-templates.ts';
import { rowStore } from '../../../lib/templates/model/row-store.ts';
import { templateStore } from '../../../lib/templates/model/template-store.ts';
import { statusStore } from '../../../lib/templates/status/status-store.ts';
import { runSync } from '../../../lib/templates/sync/sync.ts';
import { syncLockStore } from '../../../lib/templates/sync/sync-lock-store.ts';
import type { SyncMessage } from '../../../lib/templates/sync/sync-message.ts';
import { type CallOptions, call } from '../calls.ts';
import { makeChannel, makeWaba, memoryDirectory } from '../directory.ts';
import { MemoryAudit } from '../memory-audit.ts';
import { MemoryEvents } from '../memory-events.ts';
import { nothingWaits } from '../no-template-holds.ts';
import { freshTable, localDocumentClient } from '../stores.ts';
import {
  type ClientId,
  campaignIds,
  campaignName,
  campaignOfUser,
  channels,
  clientIds,
  type Slot,
  wabas,
} from './setting.ts';

const startMs = Date.parse('2026-11-20T12:00:00Z');
const token = 'demo-platform-token';
const operator = { userId: 'u-0', clientId: 1, permissions: ['BSP_CN'] };

const directory = memoryDirectory({
  wabas: wabas.map((waba) => makeWaba({ ...waba, namespace: `namespace_${waba.wabaId}` })),
  channels: channels.map((channel) => makeChannel(channel)),
  campaigns: clientIds.flatMap((clientId) =>
    campaignIds.map((campaignId) => ({ campaignId, clientId, name: campaignName(clientId, campaignId) })),
  ),
  users: clientIds.map((clientId) => ({
    userId: 'u-1',
    username: `user${clientId}`,
    clientId,
    permissions: [],
    campaignIds: [campaignOfUser],
  })),
});

/** Starts the platform of the model test: an empty simulator whose clock moves only on command. */
export async function startPlatform() {
  const clock = { nowMs: startMs };
  const { tokens, wabas: seeded } = demoSeed();
  const seed = { tokens, apps: [], wabas: seeded.map((waba) => ({ ...waba, templates: [] })) };
  const simulator = await startSimulator({ seed, nowMs: () => clock.nowMs });
  // biome-ignore lint/suspicious/noExplicitAny: replies of every shape
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const reply = await fetch(`${simulator.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  return {
    clock,
    url: simulator.url,
    stop: () => simulator.stop(),
    control: (method: string, path: string, body?: unknown) => ask(method, `/_control/${path}`, body),
    /** Returns the id of an existing template. */
    idOf: async ({ wabaId, ...wanted }: Slot): Promise<string> => {
      const { data } = await ask('GET', `/v26.0/${wabaId}/message_templates?${new URLSearchParams(wanted)}`);
      return data[0].id;
    },
  };
}

export type TestPlatform = Awaited<ReturnType<typeof startPlatform>>;

/** The platform has carried out the call, which has this fate. */
export type Fate = 'fine' | 'reply_lost' | 'not_stored';

/** Starts the service of one run: the endpoints over real stores in a table of its own, with an empty platform. */
export async function startService(
  platform: TestPlatform,
  {
    client = localDocumentClient(),
    nowMs = () => platform.clock.nowMs,
  }: { readonly client?: DynamoDBDocumentClient; readonly nowMs?: () => number } = {},
) {
  await platform.control('POST', 'reset');
  platform.clock.nowMs = startMs;
  const table = await freshTable('templates');
  const transport = platformTransport({ baseUrl: platform.url, version: 'v26.0', timeoutMs: 5_000 });
  const credentialOf = async () => ({ accessToken: token, appId: '500000000000001' });
  const management = templateManagement(transport, credentialOf);
  const upstream = platformTemplates(transport, credentialOf);
  const templates = templateStore(client, table);
  const creations = creationStore(client, table);
  // The faults of `client` do not concern the lock, so its client has none.
  const locks = syncLockStore(localDocumentClient(), table);
  const assignments = { directory, rows: rowStore(client, table), assignments: assignmentStore(client, table), nowMs };
  const away = async () => {
    throw new Error('the table is away');
  };
  const events = new MemoryEvents();
  const audit = new MemoryAudit();
  const managed = { directory, management, platformTemplates: upstream, events, audit, nowMs };
  const noMedia = { fetchPublic: away, uploadMedia: away };
  const creating = (fate: Fate) =>
    templatesCreate({
      ...managed,
      creations: fate === 'not_stored' ? { ...creations, store: away } : creations,
      pairFaults: (template, pairs) => pairFaults(directory, template, pairs),
      ...noMedia,
    });
  const editing = (fate: Fate) =>
    templatesEdit({
      ...managed,
      ...nothingWaits,
      ...noMedia,
      templates: fate === 'not_stored' ? { ...templates, writeUpstream: away } : templates,
    });

  const queue: SyncMessage[] = [];
  const syncing = templatesSync({
    directory,
    platform: upstream,
    locks,
    queue: { sendLater: async (message) => void ('clientId' in message ? queue.push(message) : await away()) },
    lockScope: 'deployment',
    nowMs,
    newId: () => `sync at ${nowMs()}`,
  });
  /** Does the worker's tasks until its queue is empty. */
  const work = async (timeLeftMs: number) => {
    for (let message = queue.shift(); message !== undefined; message = queue.shift()) {
      const still = { refreshChannels: async () => 0, pause: async () => undefined };
      const workshop = { directory, templates, platform: upstream, locks, events, nowMs, ...still };
      const result = await runSync(workshop, message, () => timeLeftMs);
      if (result.kind === 'unfinished') queue.push(result.checkpoint);
    }
  };

  const asOperator = (endpoint: Endpoint, clientId: ClientId | undefined, { query, ...options }: CallOptions = {}) =>
    call(endpoint, operator, {
      ...options,
      query: { ...query, ...(clientId === undefined ? {} : { client_id: String(clientId) }) },
    });
  return {
    platform,
    work,
    asOperator,
    asUser: (endpoint: Endpoint, clientId: ClientId, options: CallOptions = {}) =>
      call(endpoint, { userId: 'u-1', clientId }, options),
    endpoints: {
      add: channelCampaignsAdd(assignments),
      replace: channelCampaignsReplace(assignments),
      remove: channelCampaignsRemove(assignments),
      creating,
      editing,
      deleting: templatesDelete({ ...managed, templates }),
      status: templatesStatus({
        directory,
        rows: rowStore(client, table),
        status: statusStore(client, table),
        audit,
        nowMs,
      }),
      list: templatesList({ directory, templates, nowMs }),
      sync: syncing,
    },
  };
}

export type Service = Awaited<ReturnType<typeof startService>>;
