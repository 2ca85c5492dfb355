import { randomUUID } from 'node:crypto';
import { audience } from '../../../infra/local/demo/audience.ts';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { forEachConcurrently } from '../../../lib/aws/concurrently.ts';
import { straightRecipients } from '../../../lib/messages/dispatch/call-facts.ts';
import { log } from '../../../lib/observe/log.ts';
import { metered } from '../../../lib/observe/metrics.ts';
import { optOutWriter } from '../../../lib/opt-outs/opt-out-store.ts';
import { recordOptOut } from '../../../lib/opt-outs/record-opt-out.ts';
import type { RunTimes } from '../../pipeline/meter.ts';
import { type MeteredDispatch, meterDispatches, nameOf } from '../../pipeline/metered-dispatches.ts';
import { limitPerSecond } from '../../pipeline/quiet-world.ts';
import { startMs } from '../../pipeline/world.ts';
import { makeDispatch } from '../../support/made-dispatches.ts';
import { bytesWritten, bytesWrittenNow } from '../../support/written-bytes.ts';
import { bodyText, sendEvent, startAcceptor } from '../acceptance.ts';
import { startCountingProxy } from '../counting-proxy.ts';
import { startMeteringProxy } from '../metering-proxy.ts';
import { benchTable, clientOf } from '../template-tables.ts';
import * as assumed from './assumed.ts';
import { type Counts, lambdaTime, overlappingLambdaTime, times, together, totalDollars } from './price.ts';
import { aMillion } from './table.ts';

/** The costs count for each message, by the part of its way. */
export interface SendingCost {
  readonly parts: Readonly<Record<'acceptance' | 'sending', Counts>>;
  readonly dollarsOfAMillion: number;
  /** A run of the workers takes so many messages. */
  readonly ofRun: number;
  /** The delays of the queue ended so late. */
  readonly latenessMs: number;
}

export interface Sending {
  readonly name: string;
  readonly recipients: number;
  /** So many requests come in the same moment, so often, and so long after each other. */
  readonly requests: number;
  readonly bursts: number;
  readonly everyMs: number;
  /** A worker polls so long after a small request is there. */
  readonly gatherMs?: number;
  /** The client has opt-outs, so each recipient is looked up, and all are found among those of other clients (D55). */
  readonly optOuts?: true;
}

/** The delays of the queue may end so late; the worst of the four counts. */
const latenessesMs = [0, 20, 200, 1_000] as const;

/** Returns the cost of requests of one kind, from the gateway to the platform. */
export async function costOfSending(stack: RunningStack, sending: Sending): Promise<SendingCost> {
  const { recipients, everyMs } = sending;
  // All requests use one token, so the gateway caches its check.
  const authorized = Math.min(1, everyMs / assumed.authorizedForMs / sending.requests);
  const accepting = together(await costOfAcceptance(stack, recipients), times(costOfAuthorizer(), authorized));
  const acceptance = times(accepting, 1 / recipients);
  let worst: SendingCost | undefined;
  for (const latenessMs of latenessesMs) {
    const { ofRun, ...way } = await costOfWay(stack, sending, latenessMs);
    const parts = { acceptance, ...way };
    const dollarsOfAMillion = totalDollars(times(together(...Object.values(parts)), aMillion));
    if (worst !== undefined && worst.dollarsOfAMillion >= dollarsOfAMillion) continue;
    worst = { parts, dollarsOfAMillion, ofRun, latenessMs };
  }
  if (worst === undefined) throw new Error('nothing was measured');
  return worst;
}

/** Starts at the message of the dispatch or of the small request, and ends at the platform. */
async function costOfWay(stack: RunningStack, sending: Sending, delayJitterMs: number) {
  const { name, recipients, bursts, everyMs, gatherMs } = sending;
  const requests = bursts * sending.requests;
  const messages = recipients * requests;
  const { tableName: table } = await benchTable(stack, `cost-${name}-${delayJitterMs}`, 'messages');
  if (sending.optOuts) await optOutsOf(stack, { table, requests, recipients });
  const logBytes = new Map<string, number>();
  const run = await meterDispatches({
    dispatches: Array.from({ length: requests }, (_, at) => {
      const afterMs = Math.floor(at / sending.requests) * everyMs;
      return { dispatch: dispatchOf(at, recipients, afterMs), afterMs };
    }),
    clients: [clientOf(stack), clientOf(stack), clientOf(stack), clientOf(stack)],
    table,
    delayJitterMs,
    gatherMs,
    platformMs: assumed.platformMs,
    storeMs: assumed.storeMs,
    log: (functionName, ...line) => {
      const bytes = bytesWrittenNow(() => log(...line));
      logBytes.set(functionName, (logBytes.get(functionName) ?? 0) + bytes);
    },
  });
  if (new Set(run.posted).size !== messages || run.posted.length !== messages) {
    throw new Error(`${run.posted.length} of ${messages} messages were sent`);
  }
  // Each run writes its own metrics.
  const metricBytes = await bytesWritten(() => metered(async () => undefined));
  const senders = run.meter.timesOf('dispatch');
  const small = run.meter.timesOf('small');
  const runs = senders.runs + small.runs;
  const { queue, grouped } = run.meter.requests;
  const sum = (of: 'writeUnits' | 'readUnits') => run.store.dispatch[of] + run.store.small[of];
  return {
    ofRun: messages / runs,
    sending: times(
      together(timeOfSenders(senders, small.runs === 0 ? messages : 0), timeOfSmallRequests(small, messages), {
        invocations: runs,
        writeUnits: sum('writeUnits'),
        readUnits: sum('readUnits'),
        // The wakes of acceptance count too.
        queueRequests: queue + grouped,
        groupedRequests: grouped,
        logBytes: (logBytes.get('dispatch') ?? 0) + runs * (metricBytes + assumed.invocationLogBytes),
      }),
      1 / messages,
    ),
  };
}

function timeOfSenders({ runs, ms }: RunTimes, messages: number): Counts {
  const { ofRun, ofMessage } = assumed.senderProcessorMs;
  const processorMs = runs * ofRun + messages * ofMessage;
  return overlappingLambdaTime({ memoryMb: assumed.memoryOf('messages-dispatch'), waitedMs: ms, processorMs });
}

function timeOfSmallRequests({ runs, ms }: RunTimes, messages: number): Counts {
  if (runs === 0) return {};
  const { ofRun, ofMessage } = assumed.smallRequestProcessorMs;
  const processorMs = runs * ofRun + messages * ofMessage;
  return overlappingLambdaTime({ memoryMb: assumed.memoryOf('messages-dispatch-urgent'), waitedMs: ms, processorMs });
}

/** Stops each recipient for another client, and marks the one that sends, so that each looked-up item exists. */
async function optOutsOf(
  stack: RunningStack,
  { table, requests, recipients }: { readonly table: string; readonly requests: number; readonly recipients: number },
): Promise<void> {
  const messages = { client: clientOf(stack), name: table, pause: async () => undefined };
  const ports = optOutWriter(messages, nameOf);
  await ports.mark({ kind: 'client', clientId: dispatchOf(0, 1, 0).head.clientId });
  const word = { says: 'stopped', atMs: startMs, source: 'reply' } as const;
  for (let at = 0; at < requests; at += 1) {
    const stops = audience(recipients, at).map(({ to }) => {
      return { scope: { kind: 'client', clientId: 9 } as const, recipients: [to], word };
    });
    await forEachConcurrently(stops, 20, (stop) => recordOptOut(stop, ports));
  }
}

/**
 * The first two requests fill the caches of a process and do not count. The next eight fall into its first minute, and
 * every fourth leases from the client's budget, as at a trickle.
 */
const warmUps = 2;
const measured = 8;
/**
 * Small requests count by the processor time of a warm process after some hundred requests: the first ten take more
 * than twice as long, and end within minutes.
 */
const warmUpsOfProcessor = 200;
const measuredOfProcessor = 100;

/** Sends requests to the built function before the stack's tables and queues, with or without a key. */
export async function costOfAcceptance(stack: RunningStack, recipients: number, withKey = false): Promise<Counts> {
  const dynamodb = await startMeteringProxy(stack.addresses.dynamodbEndpoint);
  const sqs = await startCountingProxy(stack.addresses.sqsEndpoint);
  const acceptor = startAcceptor(stack, { dynamodb, sqs });
  const body = bodyText(0, recipients);
  try {
    const counts: Counts[] = [];
    const invoke = async () =>
      await acceptor.invoke(sendEvent(body, withKey ? { 'idempotency-key': randomUUID() } : {}));
    const memoryMb = assumed.memoryOf('messages-send');
    for (let request = 0; request < warmUps + measured; request += 1) {
      const { processorMs: coldMs, logBytes } = await invoke();
      const processorMs = recipients <= straightRecipients ? 0 : coldMs;
      const { requests, ...units } = dynamodb.taken();
      const queueRequests = sqs.taken();
      const waitedMs = requests * assumed.storeMs + queueRequests * assumed.queueMs;
      counts.push({
        ...units,
        queueRequests,
        groupedRequests: queueRequests,
        ...lambdaTime({ memoryMb, waitedMs, processorMs }),
        logBytes: logBytes + assumed.accessLogBytes + assumed.invocationLogBytes,
      });
    }
    const ofEach = times(together(...counts.slice(warmUps)), 1 / measured);
    const processorMs = recipients <= straightRecipients ? await warmProcessorMs(invoke) : 0;
    const { computedGbSeconds = 0 } = lambdaTime({ memoryMb, waitedMs: 0, processorMs });
    return together(ofEach, { apiRequests: 1, invocations: 1, computedGbSeconds });
  } finally {
    acceptor.stop();
    dynamodb.stop();
    sqs.stop();
  }
}

async function warmProcessorMs(invoke: () => Promise<{ readonly processorMs: number }>): Promise<number> {
  for (let request = 0; request < warmUpsOfProcessor; request += 1) await invoke();
  let sum = 0;
  for (let request = 0; request < measuredOfProcessor; request += 1) sum += (await invoke()).processorMs;
  return sum / measuredOfProcessor;
}

function costOfAuthorizer(): Counts {
  const processorMs = assumed.authorizerProcessorMs;
  return {
    invocations: 1,
    ...lambdaTime({ memoryMb: assumed.memoryOf('authorizer'), waitedMs: 0, processorMs }),
    logBytes: assumed.invocationLogBytes,
  };
}

function dispatchOf(at: number, recipients: number, afterMs: number): MeteredDispatch['dispatch'] {
  const head = {
    dispatchId: `01KAH000000000000000C${String(at).padStart(5, '0')}`,
    acceptedAtMs: startMs + afterMs,
    throughputPerSecond: limitPerSecond,
    correlationId: randomUUID(),
    receiptsExpected: true as const,
    heedsOptOuts: true as const,
  };
  const asked = audience(recipients, at).map(({ to, params: { body, buttons } }) => {
    return { to, params: { body: [...body], buttons: [...buttons] } };
  });
  return makeDispatch(asked, head);
}
