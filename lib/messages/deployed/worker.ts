import { environmentVariable, queues } from '../../aws/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedPlatform } from '../../platform/deployed.ts';
import type { ChunkWorkerPorts } from '../chunks/chunk-ports.ts';
import { chunkQueue } from '../chunks/chunk-queue.ts';
import { standingStore } from '../chunks/standing-store.ts';
import { breakerStore } from '../dispatch/breaker-store.ts';
import { platformCallTimeoutMs } from '../dispatch/deadlines.ts';
import { platformMessages, readyToCall } from '../dispatch/platform-messages.ts';
import { platformProbe } from '../dispatch/platform-probe.ts';
import { holdStore } from '../holds/hold-store.ts';
import { type RunHoldsPorts, runHolds } from '../holds/run-holds.ts';
import { jobStateStore } from '../job-state-store.ts';
import { urgentStore } from '../pace/urgent-store.ts';
import { sliceDoubtsStore } from '../receipts/slice-doubts-store.ts';
import { firstParkedLookSeconds, parkedWatchOf } from '../watch/watch-message.ts';
import { watchQueue } from '../watch/watch-queue.ts';
import { messagesTable } from './messages-table.ts';
import { deployedAcceptedJobs, deployedPaces, deployedSending } from './sending.ts';

/** What a worker takes that consumes the queue with that address. */
export function deployedWorker(
  queueUrl: string,
  { isOfSmallRequests }: Pick<ChunkWorkerPorts, 'isOfSmallRequests'>,
): Omit<ChunkWorkerPorts, 'invocation' | 'remainingMs'> {
  const { call, credentialOf } = deployedPlatform({ timeoutMs: platformCallTimeoutMs });
  const { client, table, nowMs } = messagesTable();
  const states = jobStateStore(client, table);
  const jobs = deployedAcceptedJobs();
  const watch = watchQueue(queues(), environmentVariable('WATCH_QUEUE_URL'));
  const watchParked: RunHoldsPorts['watchParked'] = (chunk, sinceMs) =>
    watch.sendLater(parkedWatchOf(chunk, sinceMs), firstParkedLookSeconds);
  const wabas = holdStore({ client, table, nowMs });
  return {
    ...deployedSending(),
    isOfSmallRequests,
    queue: chunkQueue(queues(), { own: queueUrl, dispatch: environmentVariable('DISPATCH_QUEUE_URL') }),
    look: standingStore(client, table),
    beginStraight: async (chunk) => {
      await jobs.beginStraight(chunk);
    },
    newHolds: () => runHolds({ states, wabas, watchParked, nowMs, log }),
    paces: deployedPaces(),
    tenths: urgentStore(client, table),
    doubts: sliceDoubtsStore(client, table),
    ready: readyToCall(credentialOf),
    send: platformMessages(call, credentialOf),
    breakers: breakerStore({ client, table, nowMs }),
    probe: platformProbe(call, credentialOf),
  };
}
