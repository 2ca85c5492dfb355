import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { deployed, deployedDirectory } from '../lib/access/deployed.ts';
import { deployedTemplateHolds, type TemplateHolds } from '../lib/messages/deployed/account-updates.ts';
import { correlated } from '../lib/observe/correlation.ts';
import { errorName } from '../lib/observe/error-name.ts';
import { type LogFacts, log } from '../lib/observe/log.ts';
import { count, metered } from '../lib/observe/metrics.ts';
import { deployedPlatform } from '../lib/platform/deployed.ts';
import { deployedSyncWork } from '../lib/templates/deployed/sync.ts';
import { SyncLockLost } from '../lib/templates/model/sync-lock-lost.ts';
import { runSync, type SyncPorts } from '../lib/templates/sync/sync.ts';
import {
  decodeSync,
  type QueuedSync,
  type SyncCounts,
  type SyncMessage,
  syncDeliveries,
} from '../lib/templates/sync/sync-message.ts';
import { syncNextClient, type WalkPorts } from '../lib/templates/sync/sync-walk.ts';

type Ports = SyncPorts & WalkPorts & Pick<TemplateHolds, 'templateHolds'>;

/**
 * Works off the sync queue (batch size 1): continues a synchronization, or takes a turn of the walk. Errors redeliver
 * the message; a lost lock ends it. The walk continues however a client's turn ends.
 */
export function templatesSyncWorker(ports: Ports) {
  return async (event: SQSEvent, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> => {
    for (const record of event.Records) await metered(() => processMessages(record, context));
  };

  async function processMessages(record: SQSRecord, context: Pick<Context, 'getRemainingTimeInMillis'>): Promise<void> {
    const message = readSync(record.body);
    // A walk has no request, so its own id correlates its log lines.
    if (!('lock' in message)) {
      const delivery = { messageId: record.messageId, last: isLastDelivery(record) };
      return await correlated(message.walk.id, () => syncNextClient(ports, message.walk, delivery));
    }
    return await correlated(message.correlationId, async () => {
      try {
        const unfinished = await synchronize(ports, message, () => context.getRemainingTimeInMillis());
        if (!unfinished) await walkOn(ports, message);
      } catch (error) {
        if (isLastDelivery(record)) await walkOn(ports, message);
        throw error;
      }
    });
  }
}

function readSync(body: string): QueuedSync {
  try {
    return decodeSync(body);
  } catch (error) {
    log('sync.unreadable', { error: errorName(error) });
    throw error;
  }
}

async function synchronize(ports: Ports, message: SyncMessage, timeLeftMs: () => number): Promise<boolean> {
  const { clientId, lock } = message;
  const facts = { syncId: lock.owner, fence: lock.fence, clientId };
  try {
    const result = await runSync(ports, message, timeLeftMs);
    if (result.kind === 'unfinished') await ports.queue.sendLater(result.checkpoint, 0);
    else {
      await heedReadings(ports, clientId);
      reportCompleted(result.counts, facts);
    }
    return result.kind === 'unfinished';
  } catch (error) {
    if (!(error instanceof SyncLockLost)) throw error;
    log('sync.stopped', { ...facts, code: 'lock_lost' });
    return false;
  }
}

/** If this fails, the sender of what waits for a template reads it itself (D46). */
async function heedReadings({ directory, templateHolds }: Ports, clientId: number): Promise<void> {
  try {
    for (const { wabaId } of await directory.listWabas(clientId)) await templateHolds.heedReadings(wabaId);
  } catch (error) {
    log('hold.not_changed', { clientId, error: errorName(error) });
  }
}

function reportCompleted(counts: SyncCounts, facts: LogFacts): void {
  count('SyncsCompleted');
  count('SyncTemplatesChanged', counts.created + counts.updated + counts.deleted);
  log('sync.completed', { ...facts, outcome: JSON.stringify(counts) });
}

async function walkOn({ queue }: Ports, { walk, clientId }: SyncMessage): Promise<void> {
  if (walk !== undefined) await queue.sendLater({ walk: { id: walk.id, turn: walk.turn + 1, after: clientId } }, 0);
}

function isLastDelivery({ attributes }: SQSRecord): boolean {
  return Number(attributes.ApproximateReceiveCount) >= syncDeliveries;
}

export const handler = deployed(() => {
  // A page has half a megabyte. This function has the memory for JSON of a few megabytes.
  const platform = deployedPlatform({ timeoutMs: 10_000, maxReplyBytes: 4_000_000 });
  return templatesSyncWorker({ ...deployedDirectory(), ...deployedSyncWork(platform), ...deployedTemplateHolds() });
});
