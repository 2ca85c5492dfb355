import { deployedDirectory } from '../../access/deployed.ts';
import { documents, environmentVariable, queues } from '../../aws/deployed.ts';
import { backoff, storePause } from '../../aws/pause.ts';
import { type DelayedQueue, delayedQueue } from '../../aws/sqs-batch.ts';
import { visibilityOf } from '../../aws/sqs-visibility.ts';
import { deployedChannels } from '../../channels/deployed.ts';
import { log } from '../../observe/log.ts';
import { deployedOptOutLook } from '../../opt-outs/deployed.ts';
import { deployedKnownRates } from '../../pricing/deployed.ts';
import { templateStore } from '../../templates/model/template-store.ts';
import { encodeJob, type JobMessage } from '../accept/job-message.ts';
import { parameterStore } from '../accept/parameter-store.ts';
import { budgetsStore } from '../budget/budgets-store.ts';
import { costStop, type Released } from '../fan-out/cost-at-release.ts';
import type { StoredJob } from '../fan-out/job-rounds.ts';
import { jobRoundsStore } from '../fan-out/job-rounds-store.ts';
import { judgedForRelease } from '../fan-out/revalidate-job.ts';
import { scheduledJobsStore } from '../fan-out/scheduled-jobs-store.ts';
import { waveQueue } from '../fan-out/wave-queue.ts';
import { holdStore } from '../holds/hold-store.ts';
import { jobStateStore } from '../job-state-store.ts';
import { limitOfJob } from '../pace/limit-of-job.ts';
import { messagesTable } from './messages-table.ts';
import { deployedAcceptedJobs, deployedPaces, deployedSending, deployedWatches } from './sending.ts';
import { deployedCount } from './spend.ts';

/** A job can wait: of a hundred that begin on one number, only one at a time reserves. */
const reservingPause = backoff(100, 3_200);

/** The message group is the client. */
function deployedJobQueue(): DelayedQueue<JobMessage> {
  const queue = { client: queues(), url: environmentVariable('SEND_JOB_QUEUE_URL') };
  return delayedQueue(queue, encodeJob, ({ clientId }) => String(clientId));
}

export function deployedLostRounds() {
  const { client, table, nowMs } = messagesTable();
  return {
    scheduled: scheduledJobsStore(client, table),
    sendAgain: deployedJobQueue().sendLater,
    nowMs,
    log,
  };
}

export function deployedJobs() {
  const { client, table, nowMs } = messagesTable();
  const { find, begin } = deployedAcceptedJobs();
  const templates = templateStore(documents(), environmentVariable('TEMPLATES_TABLE'));
  const asked = { ...deployedDirectory(), templates, holds: holdStore({ client, table, nowMs }), nowMs };
  const count = deployedCount({ readsSlices: true });
  const jobs = jobRoundsStore({ client, table }, { find, begin, recipientsFrom: parameterStore(client, table).read });
  const costPorts = {
    ...{ ...deployedDirectory(), jobs, nowMs },
    rates: deployedKnownRates(),
    optOuts: deployedOptOutLook(),
    budgets: budgetsStore({ documentClient: client, tableName: table, pause: storePause }),
  };
  return {
    ...deployedSending(),
    states: jobStateStore(client, table),
    jobs,
    queue: waveQueue(queues(), environmentVariable('DISPATCH_QUEUE_URL')),
    paces: deployedPaces(reservingPause),
    judge: (job: StoredJob) => judgedForRelease(job, asked),
    costStop: (released: Released) => costStop(released, costPorts),
    countNow: (jobId: string) => count([jobId]),
    limitOf: limitOfJob({ channels: deployedChannels(), log }),
    watch: deployedWatches(),
    sendAgain: deployedJobQueue().sendLater,
    postpone: visibilityOf(queues(), environmentVariable('SEND_JOB_QUEUE_URL')),
  };
}
