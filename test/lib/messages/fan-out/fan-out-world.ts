import { packEntries, type QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { JobMessage } from '../../../../lib/messages/accept/job-message.ts';
import type { WholeJob } from '../../../../lib/messages/accept/whole-job.ts';
import type { QueuedChunk } from '../../../../lib/messages/chunk.ts';
import { type FanOutPorts, fanOutJob } from '../../../../lib/messages/fan-out/fan-out-job.ts';
import { asAccepted } from '../../../../lib/messages/fan-out/judge-again.ts';
import type { JobHead, Recipient } from '../../../../lib/messages/job.ts';
import type { WatchMessage } from '../../../../lib/messages/watch/watch-message.ts';
import type { LogEvent, LogFacts } from '../../../../lib/observe/log.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { memoryPaces } from '../../../support/memory-numbers.ts';
import { MemoryTable, nothingFails } from '../../../support/messages-table/memory-table.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';

export const nowMs = 1_800_000_000_000;

export interface Queued extends QueuedChunk {
  readonly delaySeconds: number;
  readonly atMs: number;
}

/**
 * The surroundings of the fan-out of job `J`, in memory; its number sends a thousand a second unless a test says
 * otherwise.
 */
export function fanOutWorld(
  given: number | Recipient[],
  changes: Partial<FanOutPorts> = {},
  changedHead: Partial<JobHead> = {},
  changedJob: Partial<WholeJob> = {},
) {
  const recipients =
    typeof given === 'number'
      ? Array.from({ length: given }, (_, index) => ({ to: String(5_490_000_000_000 + index) }))
      : given;
  const head = makeJobHead({ jobId: 'J', acceptedAtMs: nowMs, total: recipients.length, ...changedHead });
  const table = new MemoryTable();
  table.store({
    head,
    plan: { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] },
    recipients,
    ...changedJob,
  });
  const queued: Queued[] = [];
  const events = new MemoryEvents();
  const watched: { readonly message: WatchMessage; readonly delaySeconds: number }[] = [];
  const sentAgain: { readonly message: JobMessage; readonly delaySeconds: number }[] = [];
  const holds: number[] = [];
  const logged: [LogEvent, LogFacts][] = [];
  const paces = memoryPaces();
  const accept = ({ body, delaySeconds }: QueueEntry) =>
    void queued.push({ ...JSON.parse(body), delaySeconds, atMs: ports.nowMs() });
  const ports: FanOutPorts = {
    jobs: table.ofRounds(nothingFails),
    states: table.ofStates(nothingFails),
    slices: table.ofSlices(nothingFails),
    events,
    queue: {
      pack: packEntries,
      sendBatch: async (entries) => {
        for (const entry of entries) accept(entry);
        return [];
      },
    },
    watch: { sendLater: async (message, delaySeconds) => void watched.push({ message, delaySeconds }) },
    sendAgain: async (message, delaySeconds) => void sentAgain.push({ message, delaySeconds }),
    hold: async () => void holds.push(ports.nowMs()),
    judge: async (job) => asAccepted(job),
    compose: (_, { to }, dispatchId) => ({ to, biz_opaque_callback_data: dispatchId }),
    paces,
    limitOf: async () => 1_000,
    nowMs: () => nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    pause: async () => undefined,
    log: (event, facts) => void logged.push([event, facts]),
    ...changes,
  };
  let runs = 0;
  /** Each call is another run of the function. */
  const fannedOut = (message: Partial<JobMessage> = {}, changed: Partial<FanOutPorts> = {}) => {
    runs += 1;
    const { clientId, acceptedAtMs } = head;
    const full = { jobId: 'J', clientId, acceptedAtMs, ...message };
    return fanOutJob(full, `run ${runs}`, { ...ports, ...changed });
  };
  const recipientsQueued = () =>
    queued.flatMap((chunk) => chunk.slices.flatMap((slice) => slice.recipients)).toSorted((a, b) => a.index - b.index);
  const indexes = () => recipientsQueued().map(({ index }) => index);
  return {
    ...{ ports, table, queued, events, watched, sentAgain, holds, logged, paces, accept },
    ...{ fannedOut, recipientsQueued, indexes },
  };
}

export function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, at) => from + at);
}
