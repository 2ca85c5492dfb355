import { packEntries, type QueueEntry } from '../../../../lib/aws/sqs-batch.ts';
import type { RoundMessage } from '../../../../lib/messages/accept/round-message.ts';
import type { QueuedChunk } from '../../../../lib/messages/dispatch/chunk.ts';
import type { DispatchHead, Recipient } from '../../../../lib/messages/dispatch/head.ts';
import type { WholeDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { type FanOutPorts, fanOutDispatch } from '../../../../lib/messages/fan-out/fan-out-dispatch.ts';
import { asAccepted } from '../../../../lib/messages/fan-out/revalidate-dispatch.ts';
import type { WatchMessage } from '../../../../lib/messages/watch/watch-message.ts';
import type { LogEvent, LogFacts } from '../../../../lib/observe/log.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { memoryPaces } from '../../../support/memory-numbers.ts';
import { MemoryTable, nothingFails } from '../../../support/messages-table/memory-table.ts';
import { noCosts } from '../../../support/no-costs.ts';

export const nowMs = 1_800_000_000_000;

export interface Queued extends QueuedChunk {
  readonly delaySeconds: number;
  readonly atMs: number;
}

function nothingKept() {
  return {
    queued: [] as Queued[],
    watched: [] as { readonly message: WatchMessage; readonly delaySeconds: number }[],
    sentAgain: [] as { readonly message: RoundMessage; readonly delaySeconds: number }[],
    holds: [] as number[],
    logged: [] as [LogEvent, LogFacts][],
  };
}

/**
 * Surrounds the fan-out of dispatch `J`, in memory; its number sends a thousand a second unless a test says otherwise.
 */
export function fanOutWorld(
  given: number | Recipient[],
  changes: Partial<FanOutPorts> = {},
  changedHead: Partial<DispatchHead> = {},
  changedDispatch: Partial<WholeDispatch> = {},
) {
  const recipients =
    typeof given === 'number' ? upTo(given).map((at) => ({ to: String(5_490_000_000_000 + at) })) : given;
  const head = makeDispatchHead({ dispatchId: 'J', acceptedAtMs: nowMs, total: recipients.length, ...changedHead });
  const table = new MemoryTable();
  const plan = { templateName: 'order_update', languageCode: 'en_US', buttons: [], cards: [] };
  table.store({ head, plan, recipients, ...changedDispatch });
  table.begin(head);
  const kept = nothingKept();
  const [events, paces] = [new MemoryEvents(), memoryPaces()];
  const accept = ({ body, delaySeconds }: QueueEntry) =>
    void kept.queued.push({ ...JSON.parse(body), delaySeconds, atMs: ports.nowMs() });
  const sendBatch: FanOutPorts['queue']['sendBatch'] = async (entries) => {
    for (const entry of entries) accept(entry);
    return [];
  };
  const hold = async () => void kept.holds.push(ports.nowMs());
  const queue = { pack: packEntries, sendBatch };
  const ports: FanOutPorts = { ...portsOn(table, kept), events, paces, queue, hold, ...changes };
  return { ...kept, ports, table, events, paces, accept, ...runsOf(head, ports), ...queuedIn(kept.queued) };
}

function portsOn(table: MemoryTable, { watched, sentAgain, logged }: ReturnType<typeof nothingKept>) {
  return {
    dispatches: table.ofRounds(nothingFails),
    states: table.ofStates(nothingFails),
    slices: table.ofSlices(nothingFails),
    watch: { sendLater: async (...[message, delaySeconds]) => void watched.push({ message, delaySeconds }) },
    sendAgain: async (message, delaySeconds) => void sentAgain.push({ message, delaySeconds }),
    judge: async (dispatch) => asAccepted(dispatch),
    costStop: noCosts.costStop,
    countNow: noCosts.countNow,
    compose: (_, { to }, messageId) => ({ to, biz_opaque_callback_data: messageId }),
    limitOf: async () => 1_000,
    nowMs: () => nowMs,
    remainingMs: () => 60_000,
    againAfterSeconds: 30,
    random: () => 0,
    pause: async () => undefined,
    log: (event, facts) => void logged.push([event, facts]),
  } satisfies Partial<FanOutPorts>;
}

/** Each call of `fannedOut` is another run of the function. */
function runsOf({ clientId, acceptedAtMs }: DispatchHead, ports: FanOutPorts) {
  let runs = 0;
  const fannedOut = (message: Partial<RoundMessage> = {}, changed: Partial<FanOutPorts> = {}) => {
    runs += 1;
    return fanOutDispatch({ dispatchId: 'J', clientId, acceptedAtMs, ...message }, `run ${runs}`, {
      ...ports,
      ...changed,
    });
  };
  return { fannedOut };
}

function queuedIn(queued: readonly Queued[]) {
  const recipientsQueued = () =>
    queued.flatMap((chunk) => chunk.slices.flatMap((slice) => slice.recipients)).toSorted((a, b) => a.index - b.index);
  return { recipientsQueued, indexes: () => recipientsQueued().map(({ index }) => index) };
}

export function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, at) => from + at);
}
