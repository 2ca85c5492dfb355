import { documents, environmentVariable, queues } from '../../aws/deployed.ts';
import { backoff } from '../../aws/pause.ts';
import { delayedQueue } from '../../aws/sqs-batch.ts';
import { deployedChannelRefresh } from '../../channels/deployed.ts';
import type { Platform } from '../../platform/deployed.ts';
import { deployedEvents } from '../../webhooks/deployed.ts';
import { platformTemplates } from '../model/platform-templates.ts';
import { syncLockScope } from '../sync/sync-lock.ts';
import { syncLockStore } from '../sync/sync-lock-store.ts';
import { encodeSync, syncGroup } from '../sync/sync-message.ts';
import { syncWalkStore } from '../sync/sync-walk-store.ts';
import { deployedTemplates } from './templates.ts';

/** Builds what starts a synchronization: the platform, the locks and the queue. */
export function deployedSync({ call, credentialOf }: Platform) {
  return {
    platform: platformTemplates(call, credentialOf),
    locks: syncLockStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    lockScope: syncLockScope(environmentVariable('SYNC_LOCK_SCOPE')),
    queue: delayedQueue({ client: queues(), url: environmentVariable('SYNC_QUEUE_URL') }, encodeSync, syncGroup),
  };
}

/** Builds what a worker needs besides, and the scheduled walk. */
export function deployedSyncWork(platform: Platform) {
  return {
    ...deployedSync(platform),
    refreshChannels: deployedChannelRefresh(platform),
    templates: deployedTemplates(),
    walks: syncWalkStore(documents(), environmentVariable('TEMPLATES_TABLE')),
    events: deployedEvents(),
    pause: backoff(1_000, 4_000),
  };
}
