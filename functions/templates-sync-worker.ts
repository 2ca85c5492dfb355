import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import * as v from 'valibot';
import { directoryStore } from '../lib/access/directory-store.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { backoff } from '../lib/aws/pause.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { channelStore } from '../lib/channels/channel-store.ts';
import { platformNumbers } from '../lib/channels/platform-numbers.ts';
import { channelRefresh } from '../lib/channels/refresh.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { type LogFacts, log } from '../lib/observe/log.ts';
import { count, metered } from '../lib/observe/metrics.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { redirectStore } from '../lib/redirects/redirect-store.ts';
import { keepingRedirects } from '../lib/templates/authoring/kept-redirects.ts';
import { platformTemplates } from '../lib/templates/model/platform-templates.ts';
import { SyncLockLost } from '../lib/templates/model/sync-lock-lost.ts';
import { templateStore } from '../lib/templates/model/template-store.ts';
import { runSync, type SyncPorts } from '../lib/templates/sync/sync.ts';
import { syncLockScope } from '../lib/templates/sync/sync-lock.ts';
import { syncLockStore } from '../lib/templates/sync/sync-lock-store.ts';
import {
  QueuedSyncSchema,
  type SyncCounts,
  type SyncMessage,
  syncDeliveries,
} from '../lib/templates/sync/sync-message.ts';
import { syncQueue } from '../lib/templates/sync/sync-queue.ts';
import { takeTurn, type WalkPorts } from '../lib/templates/sync/sync-walk.ts';
import { syncWalkStore } from '../lib/templates/sync/sync-walk-store.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

const Queued = v.pipe(v.string(), v.parseJson(), QueuedSyncSchema);

type Collaborators = SyncPorts & WalkPorts;

/**
 * The worker of the sync queue (batch size 1): goes on with a synchronization and queues its checkpoint when time runs
 * short, or takes a turn of the scheduled walk. An error leaves the message to be delivered again; a message whose lock was
 * lost is done with. However a synchronization of the walk ends, the walk goes on with the next client.
 */
export function templatesSyncWorker(deps: Collaborators) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    for (const record of event.Records) await metered(() => workOff(record, context));
  };

  async function workOff(record: SQSRecord, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> {
    const message = v.parse(Queued, record.body);
    // No request stands behind a walk: its own id ties its lines together.
    if (!('lock' in message)) {
      const delivery = { messageId: record.messageId, last: isLastDelivery(record) };
      return await correlated(message.walk.id, () => takeTurn(deps, message.walk, delivery));
    }
    return await correlated(message.correlationId, async () => {
      try {
        const unfinished = await synchronize(deps, message, () => context.getRemainingTimeInMillis());
        if (!unfinished) await walkOn(deps, message);
      } catch (error) {
        if (isLastDelivery(record)) await walkOn(deps, message);
        throw error;
      }
    });
  }
}

async function synchronize(deps: Collaborators, message: SyncMessage, timeLeftMs: () => number): Promise<boolean> {
  const { clientId, lock } = message;
  const facts = { syncId: lock.owner, fence: lock.fence, clientId };
  try {
    const result = await runSync(deps, message, timeLeftMs);
    if (result.kind === 'unfinished') await deps.queue.send(result.checkpoint);
    else reportCompleted(result.counts, facts);
    return result.kind === 'unfinished';
  } catch (error) {
    if (!(error instanceof SyncLockLost)) throw error;
    log('sync.stopped', { ...facts, code: 'lock_lost' });
    return false;
  }
}

function reportCompleted(counts: SyncCounts, facts: LogFacts): void {
  count('SyncsCompleted');
  count('SyncTemplatesChanged', counts.created + counts.updated + counts.deleted);
  log('sync.completed', { ...facts, outcome: JSON.stringify(counts) });
}

async function walkOn({ queue }: Collaborators, { walk, clientId }: SyncMessage): Promise<void> {
  if (walk !== undefined) await queue.sendTurn({ id: walk.id, turn: walk.turn + 1, after: clientId }, 0);
}

function isLastDelivery({ attributes }: SQSRecord): boolean {
  return Number(attributes.ApproximateReceiveCount) >= syncDeliveries;
}

const store = documentClient();
const sqs = queueClient();
const redirects = redirectStore(store, environmentVariable('REDIRECTS_TABLE'));
const templatesTable = environmentVariable('TEMPLATES_TABLE');
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
// A page has half a megabyte. What JSON of a few megabytes can become in memory, this function has.
const transport = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 10_000,
  maxReplyBytes: 4_000_000,
});
const credentialOf = platformCredentials(() => readSecret(credentialsSecret), Date.now);
export const handler = templatesSyncWorker({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  templates: keepingRedirects(templateStore(store, templatesTable), redirects),
  platform: platformTemplates(transport.call, credentialOf),
  refreshChannels: channelRefresh({
    channels: channelStore(store, environmentVariable('CHANNELS_TABLE')),
    numbers: platformNumbers(transport.call, credentialOf),
    nowMs: Date.now,
  }),
  locks: syncLockStore(store, templatesTable),
  lockScope: syncLockScope(environmentVariable('SYNC_LOCK_SCOPE')),
  walks: syncWalkStore(store, templatesTable),
  queue: syncQueue(sqs, environmentVariable('SYNC_QUEUE_URL')),
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  nowMs: Date.now,
  pause: backoff(1_000, 4_000),
});
