import type { Context, SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { directoryStore } from '../lib/access/directory-store.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { backoff } from '../lib/aws/pause.ts';
import { secretReader } from '../lib/aws/secrets.ts';
import { queueClient } from '../lib/aws/sqs.ts';
import { log } from '../lib/observe/log.ts';
import { platformCredentials } from '../lib/platform/credentials.ts';
import { platformTemplates } from '../lib/platform/templates.ts';
import { platformTransport } from '../lib/platform/transport.ts';
import { templateStore } from '../lib/templates/store.ts';
import { runSync, type SyncWorkshop } from '../lib/templates/sync.ts';
import { SyncLockLost } from '../lib/templates/sync-lock.ts';
import { syncLockStore } from '../lib/templates/sync-lock-store.ts';
import { SyncMessageSchema, type SyncQueue } from '../lib/templates/sync-message.ts';
import { syncQueue } from '../lib/templates/sync-queue.ts';
import { eventQueue } from '../lib/webhooks/event-queue.ts';

const QueuedSync = v.pipe(v.string(), v.parseJson(), SyncMessageSchema);

/**
 * The worker of the sync queue (batch size 1): goes on with a synchronization and queues its checkpoint when time runs
 * short. An error leaves the message to be delivered again; a message whose lock was lost is done with.
 */
export function templatesSyncWorker(deps: SyncWorkshop & { readonly queue: SyncQueue }) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    for (const record of event.Records) {
      const message = v.parse(QueuedSync, record.body);
      const { clientId, lock } = message;
      const facts = { syncId: lock.owner, fence: lock.fence, clientId };
      try {
        const result = await runSync(deps, message, () => context.getRemainingTimeInMillis());
        if (result.kind === 'unfinished') await deps.queue.send(result.checkpoint);
        else log('sync.completed', { ...facts, outcome: JSON.stringify(result.counts) });
      } catch (error) {
        if (!(error instanceof SyncLockLost)) throw error;
        log('sync.stopped', { ...facts, code: 'lock_lost' });
      }
    }
  };
}

const store = documentClient();
const sqs = queueClient();
const templatesTable = environmentVariable('TEMPLATES_TABLE');
const readSecret = secretReader();
const credentialsSecret = environmentVariable('PLATFORM_CREDENTIALS_SECRET');
const transport = platformTransport({
  baseUrl: environmentVariable('PLATFORM_BASE_URL'),
  version: environmentVariable('PLATFORM_VERSION'),
  timeoutMs: 10_000,
});
export const handler = templatesSyncWorker({
  directory: directoryStore(store, environmentVariable('DIRECTORY_TABLE')),
  templates: templateStore(store, templatesTable),
  platform: platformTemplates(
    transport.call,
    platformCredentials(() => readSecret(credentialsSecret), Date.now),
  ),
  locks: syncLockStore(store, templatesTable),
  queue: syncQueue(sqs, environmentVariable('SYNC_QUEUE_URL')),
  events: eventQueue(sqs, environmentVariable('EVENT_QUEUE_URL')),
  nowMs: Date.now,
  pause: backoff(1_000, 4_000),
});
