import { randomBytes, randomUUID } from 'node:crypto';
import type { Context } from 'aws-lambda';
import { messagesSend } from '../../functions/messages-send.ts';
import { authorizerContext } from '../../lib/access/authorizer-context.ts';
import type { Did, Directory, MonthlyBudget } from '../../lib/access/directory.ts';
import { tableOf } from '../../lib/aws/table.ts';
import type { ListedChannel } from '../../lib/channels/channel.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { idempotencyStore } from '../../lib/messages/accept/idempotency-store.ts';
import { messageQueue } from '../../lib/messages/accept/message-queue.ts';
import { budgetsStore } from '../../lib/messages/budget/budgets-store.ts';
import { notifiedThresholdsStore } from '../../lib/messages/budget/notified-thresholds-store.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { replacedIdReader } from '../../lib/messages/inbound/replaced-ids-store.ts';
import { knownPaceStore } from '../../lib/messages/pace/known-pace-store.ts';
import { waitingDispatchesStore } from '../../lib/messages/rehearse/waiting-dispatches-store.ts';
import { dispatchesStore } from '../../lib/messages/report/dispatches-store.ts';
import { lookupStore } from '../../lib/messages/resolve/lookup-store.ts';
import { wakeForAccepted } from '../../lib/messages/sender/wake-accepted.ts';
import { optOutLook, optOutWriter } from '../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../lib/opt-outs/person-name.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import { shippedRates } from '../../lib/pricing/rates.ts';
import {
  type ClientTemplate,
  languageKey,
  type PlatformTemplate,
  type TemplateOfClient,
} from '../../lib/templates/model/template.ts';
import { memoryChannels } from './channels.ts';
import { MemoryEvents } from './memory-events.ts';
import { noTemplateHolds } from './no-template-holds.ts';
import { type Attempt, type Fault, injectFaults } from './queue-faults.ts';
import { drainRequests, drainWakes } from './queued-dispatches.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from './stores.ts';

export const startMs = 1_700_000_000_000;

/** The two clients share a WABA. */
const shared = {
  wabaId: '200000000000001',
  name: 'Shared',
  namespace: 'ns',
  credential: 'main',
  clientIds: [1001, 1002],
  dids: 'waba',
} as const;
const own = { ...shared, wabaId: '200000000000002', clientIds: [1002] };
const channel = { channelId: 501, clientId: 1001, wabaId: shared.wabaId, name: '', throughputPerSecond: 1_000 };
const dids = new Map<string, Did>([
  [
    '5491100000001',
    {
      waba: { ...shared, appId: '500000000000001' },
      channel: { ...channel, did: '5491100000001', phoneNumberId: '300000000000001' },
    },
  ],
  [
    '5491100000002',
    { waba: shared, channel: { ...channel, clientId: 1002, did: '5491100000002', phoneNumberId: '300000000000002' } },
  ],
  ['5511900000003', { waba: own, channel: { ...channel, did: '5511900000003', phoneNumberId: '300000000000003' } }],
]);

const unused = () => Promise.reject(new Error('not part of a send'));
const directory: Directory = {
  hasClient: async (clientId) => [...dids.values()].some(({ waba }) => waba.clientIds.includes(clientId)),
  zoneOfClient: async () => undefined,
  findDid: async (did) => dids.get(did),
  findUser: unused,
  findClient: unused,
  listClientIds: unused,
  listClients: unused,
  listWabas: async (clientId) =>
    [shared, own].filter(({ clientIds }) => (clientIds as readonly number[]).includes(clientId)),
  listCampaigns: unused,
  listChannels: unused,
  findChannels: unused,
};

export interface SentRequest {
  readonly did?: string;
  readonly headers?: Record<string, string | undefined>;
  readonly query?: Record<string, string>;
  readonly caller?: { readonly clientId: number; readonly permissions: readonly string[] } | 'none' | 'expired';
  /** The text is sent in place of the JSON. */
  readonly rawBody?: string;
  readonly base64?: boolean;
}

interface Options {
  /** Client 1001 knows each of the platform's templates as `client` says. */
  readonly templates: Readonly<Record<string, PlatformTemplate>>;
  readonly client?: Partial<ClientTemplate>;
  readonly queueFaults?: (attempt: Attempt) => Fault;
  readonly tableFaults?: (attempt: Attempt) => Fault;
  readonly catalogId?: string;
  /** UTILITY messages of these clients of the WABA heed opt-outs. */
  readonly utilityStops?: readonly number[];
  readonly monthlyBudgets?: readonly MonthlyBudget[];
  /** The platform tells these facts of numbers; none by default. */
  readonly channels?: readonly ListedChannel[];
}

/** Makes the endpoint over the real queue and messages table, with directory, templates and platform in memory. */
export async function sendingEndpoint(options: Options) {
  const [queueUrl, urgentQueueUrl] = await Promise.all([freshQueue(), freshQueue()]);
  const table = await freshTable('messages');
  const queueClient = localQueueClient();
  const documents = localDocumentClient();
  const queueAttempts = injectFaults(queueClient, options.queueFaults ?? (() => undefined));
  const wake = senderWakeQueue({ client: queueClient, url: queueUrl });
  const tableAttempts = injectFaults(documents, options.tableFaults ?? (() => undefined));
  const clock = { nowMs: startMs };
  const platform = { reachable: true, onboarded: false, asked: 0 };
  const ages = { storedMs: 60_000 };
  const paces = knownPaceStore(tableOf(documents, table, { nowMs: () => clock.nowMs }), { newWriter: randomUUID });
  const messages = { client: localDocumentClient(), name: table, pause: async () => undefined };
  const nameOf = personNames(randomBytes(32));
  let ids = 0;

  const found = (name: string, language: string) => {
    const template = options.templates[name];
    return template !== undefined && languageKey(template.language) === languageKey(language) ? template : undefined;
  };
  const client = { clientId: 1001, active: true, documents: [{ id: 'd1' }], ...options.client };
  const notified = { utilityStops: options.utilityStops, monthlyBudgets: options.monthlyBudgets };
  const findDid = async (did: string) => {
    const found = await directory.findDid(did);
    return found === undefined ? found : { ...found, waba: { ...found.waba, ...notified } };
  };
  const reads: unknown[] = [];
  const findTemplate = ({ name, language, wabaId, clientId }: TemplateOfClient) => {
    const template = wabaId === shared.wabaId ? found(name, language) : undefined;
    if (template === undefined) return undefined;
    const fact = { wabaId, template, deleted: false, readAtMs: clock.nowMs - ages.storedMs, sinceMs: 1 };
    return clientId === client.clientId ? { fact, client } : { fact };
  };
  const budgets = budgetsStore({ ...messages, client: documents });
  const events = new MemoryEvents();
  const handle = messagesSend({
    directory,
    findSendable: async ({ did: asked, ...wanted }) => {
      reads.push({ did: asked, ...wanted });
      const did = await findDid(asked);
      return { did, template: did && findTemplate({ ...wanted, wabaId: did.waba.wabaId }) };
    },
    templates: {
      find: async (wanted) => {
        reads.push(wanted);
        return findTemplate(wanted);
      },
      refresh: async () => undefined,
      writeUpstream: async () => new Set(),
      stateOf: async () => ({ rows: [] }),
    },
    events,
    budgets,
    notified: notifiedThresholdsStore(tableOf(documents, table)),
    templateHolds: noTemplateHolds,
    platformTemplates: {
      lookUp: async (_waba, { name, language }) => {
        platform.asked += 1;
        if (!platform.reachable) throw new PlatformFailure('not_sent');
        const template = found(name, language);
        const other = options.templates[name];
        const sameName = template === undefined && other !== undefined ? [other] : [];
        return template === undefined ? { sameName } : { found: template, sameName };
      },
    },
    catalogIdOf: async () => {
      if (!platform.reachable) throw new PlatformFailure('not_sent');
      return options.catalogId;
    },
    isOnboarded: async () => platform.onboarded,
    questions: lookupStore(tableOf(documents, table)),
    replacementsOf: replacedIdReader(tableOf(documents, table, { pause: async () => undefined })),
    wake: (head, signal) => wakeForAccepted(head, { limitOf: async () => 80, wake, nowMs: () => clock.nowMs }, signal),
    urgentQueue: messageQueue(queueClient, urgentQueueUrl),
    limitOf: async () => 80,
    currentLimitOf: async (head) => head.throughputPerSecond,
    paces,
    waiting: waitingDispatchesStore(tableOf(documents, table, { pause: async () => undefined })),
    channels: memoryChannels(options.channels ?? []),
    dispatches: dispatchesStore(tableOf(documents, table, { nowMs: () => clock.nowMs })),
    optOuts: optOutLook({ ...messages, client: documents }, async () => nameOf),
    rates: async () => shippedRates,
    acceptance: acceptedDispatchesStore(tableOf(documents, table, { nowMs: () => clock.nowMs })),
    records: idempotencyStore(tableOf(documents, table)),
    nowMs: () => clock.nowMs,
    pause: async () => undefined,
    newDispatchId: () => {
      ids += 1;
      return `DISPATCH${ids}`;
    },
  });

  const send = async (body: unknown, sent: SentRequest = {}) => {
    const text = sent.rawBody ?? JSON.stringify(body);
    const event = {
      routeKey: 'POST /v1/template/messages/{did}',
      pathParameters: { did: sent.did ?? '5491100000001' },
      queryStringParameters: sent.query,
      headers: sent.headers ?? {},
      body: sent.base64 ? Buffer.from(text).toString('base64') : text,
      isBase64Encoded: sent.base64 ?? false,
      requestContext: { requestId: 'r', authorizer: authorizerOf(sent.caller, clock.nowMs) },
    };
    const context = { getRemainingTimeInMillis: () => 29_000 } as Context;
    const { statusCode, headers = {}, body: answered = '' } = await handle(event as never, context);
    return { status: statusCode, headers, body: JSON.parse(answered) };
  };
  /** Takes accepted messages out of the queues: wakes of senders, and small requests. */
  const accepted = async () => {
    const read = localQueueClient();
    return { wakes: await drainWakes(read, queueUrl), requests: await drainRequests(read, urgentQueueUrl) };
  };
  const optOuts = optOutWriter(messages, nameOf);
  return {
    send,
    accepted,
    budgets,
    events,
    clock,
    paces,
    platform,
    ages,
    reads,
    table,
    optOuts,
    queueAttempts,
    tableAttempts,
  };
}

function authorizerOf(caller: SentRequest['caller'], nowMs: number) {
  if (caller === 'none') return undefined;
  const { clientId, permissions } =
    caller === undefined || caller === 'expired' ? { clientId: 1001, permissions: [] } : caller;
  const expiresAtSeconds = caller === 'expired' ? nowMs / 1_000 : nowMs / 1_000 + 3_600;
  return { lambda: authorizerContext({ userId: 'u1', clientId, permissions, expiresAtSeconds }) };
}
