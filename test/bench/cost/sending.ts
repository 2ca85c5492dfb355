import { randomUUID } from 'node:crypto';
import { audience } from '../../../infra/local/demo/audience.ts';
import type { RunningStack } from '../../../infra/local/stack.ts';
import { present } from '../../../lib/keys/present.ts';
import { log } from '../../../lib/observe/log.ts';
import { startMs } from '../../support/scenario-job.ts';
import { limitPerSecond, type MeteredJob, meterJobs } from '../../pipeline/metered-jobs.ts';
import { DispatchWorld } from '../../support/dispatch-ports.ts';
import { makeJob } from '../../support/send-jobs.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { bytesWrittenNow, logBytesOfRun, messagesOf } from '../../support/written-bytes.ts';
import { bodyText, sendEvent, startAcceptor } from '../acceptance.ts';
import { startCountingProxy } from '../counting-proxy.ts';
import { startMeteringProxy } from '../metering-proxy.ts';
import { benchTable, clientOf } from '../template-tables.ts';
import * as assumed from './assumed.ts';
import { type Counts, lambdaTime, overlappingLambdaTime, times, together } from './price.ts';

/** One way of sending: what it took, by the part of the way, for each message. */
export interface SendingCost {
  readonly acceptance: Counts;
  readonly fanOut: Counts;
  readonly dispatch: Counts;
  /** Messages of each run of the dispatch. */
  readonly batch: number;
}

export interface Sending {
  readonly name: string;
  readonly recipients: number;
  /** So many requests come in the same moment, so often, and so long after each other. */
  readonly requests: number;
  readonly bursts: number;
  readonly everyMs: number;
  /** So long after a message is there a worker looks for what is there. */
  readonly gatherMs: number;
  /** What the number has learned (lib/messages/pace/delivery-lead.ts). */
  readonly leadMs?: number;
}

/** Requests of one kind, from the gateway to the platform. */
export async function costOfSending(stack: RunningStack, sending: Sending): Promise<SendingCost> {
  const { name, recipients, bursts, everyMs, gatherMs, leadMs } = sending;
  const requests = bursts * sending.requests;
  // All of one token.
  const authorized = Math.min(1, everyMs / assumed.authorizedForMs / sending.requests);
  const acceptance = together(await costOfAcceptance(stack, recipients), times(costOfAuthorizer(), authorized));
  const { tableName: table } = await benchTable(stack, `cost-${name}`, 'messages');
  let fanOutLogBytes = 0;
  const metered = await meterJobs({
    jobs: Array.from({ length: requests }, (_, at) => {
      const afterMs = Math.floor(at / sending.requests) * everyMs;
      return { job: jobOf(at, recipients, afterMs), afterMs };
    }),
    clients: [clientOf(stack), clientOf(stack), clientOf(stack)],
    table,
    gatherMs,
    ...present({ leadMs }),
    platformMs: assumed.platformMs,
    storeMs: assumed.storeMs,
    log: (...line) => {
      fanOutLogBytes += bytesWrittenNow(() => log(...line));
    },
  });
  const messages = recipients * requests;
  if (new Set(metered.posted).size !== messages || metered.posted.length !== messages) {
    throw new Error(`${metered.posted.length} of ${messages} messages were sent`);
  }
  const { store, fanOut, dispatch, queueRequests, groupedRequests } = metered;
  const batch = Math.round(messages / dispatch.runs);
  const { ofRun, ofMessage } = assumed.workerProcessorMs;
  const lines = await dispatchLogBytes(Math.min(requests, batch), batch);
  return {
    batch,
    acceptance: times(acceptance, 1 / recipients),
    fanOut: times(
      {
        invocations: fanOut.runs,
        ...lambdaTime({ memoryMb: assumed.memoryOf('messages-fan-out'), waitedMs: fanOut.ms, processorMs: 0 }),
        writeUnits: store.fanOut.writeUnits,
        readUnits: store.fanOut.readUnits,
        logBytes: fanOutLogBytes + fanOut.runs * assumed.invocationLogBytes,
      },
      1 / messages,
    ),
    dispatch: times(
      {
        invocations: dispatch.runs,
        ...overlappingLambdaTime({
          memoryMb: assumed.memoryOf('messages-dispatch'),
          waitedMs: dispatch.ms,
          processorMs: dispatch.runs * ofRun + messages * ofMessage,
        }),
        writeUnits: store.dispatch.writeUnits,
        readUnits: store.dispatch.readUnits,
        // Those of the job messages too.
        queueRequests,
        groupedRequests,
        logBytes: dispatch.runs * (lines + assumed.invocationLogBytes),
      },
      1 / messages,
    ),
  };
}

/** Requests measured before they count: the first fills what a warm process knows. */
const warmUps = 2;
const measured = 8;

/** One request, without a key and with one: the built function before the stack's tables and queues. */
export async function costOfAcceptance(stack: RunningStack, recipients: number, withKey = false): Promise<Counts> {
  const dynamodb = await startMeteringProxy(stack.addresses.dynamodbEndpoint);
  const sqs = await startCountingProxy(stack.addresses.sqsEndpoint);
  const acceptor = startAcceptor(stack, { dynamodb, sqs });
  const body = bodyText(0, recipients);
  try {
    const counts: Counts[] = [];
    for (let request = 0; request < warmUps + measured; request += 1) {
      const event = sendEvent(body, withKey ? { 'idempotency-key': randomUUID() } : {});
      const { processorMs, logBytes } = await acceptor.invoke(event);
      const { requests, ...units } = dynamodb.taken();
      const queueRequests = sqs.taken();
      const waitedMs = requests * assumed.storeMs + queueRequests * assumed.queueMs;
      counts.push({
        ...units,
        queueRequests,
        groupedRequests: queueRequests,
        ...lambdaTime({ memoryMb: assumed.memoryOf('messages-send'), waitedMs, processorMs }),
        logBytes: logBytes + assumed.accessLogBytes + assumed.invocationLogBytes,
      });
    }
    return together(times(together(...counts.slice(warmUps)), 1 / measured), { apiRequests: 1, invocations: 1 });
  } finally {
    acceptor.stop();
    dynamodb.stop();
    sqs.stop();
  }
}

function costOfAuthorizer(): Counts {
  const processorMs = assumed.authorizerProcessorMs;
  return {
    invocations: 1,
    ...lambdaTime({ memoryMb: assumed.memoryOf('authorizer'), waitedMs: 0, processorMs }),
    logBytes: assumed.invocationLogBytes,
  };
}

async function dispatchLogBytes(requests: number, batch: number): Promise<number> {
  return await logBytesOfRun(messagesOf(requests, batch), {
    clock: new VirtualClock(startMs),
    world: new DispatchWorld(),
  });
}

function jobOf(at: number, recipients: number, afterMs: number): MeteredJob['job'] {
  const head = {
    jobId: `01KAH000000000000000C${String(at).padStart(5, '0')}`,
    acceptedAtMs: startMs + afterMs,
    throughputPerSecond: limitPerSecond,
    correlationId: randomUUID(),
  };
  const asked = audience(recipients, at).map(({ to, params: { body, buttons } }) => {
    return { to, params: { body: [...body], buttons: [...buttons] } };
  });
  return { ...makeJob(asked, head), firstIndex: 0 };
}
