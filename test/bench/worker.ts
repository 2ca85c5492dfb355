import { randomInt, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { audience } from '../../infra/local/demo/audience.ts';
import { call } from '../../infra/local/demo/client.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { type DispatchMessage, dispatchIdOf } from '../../lib/messages/job.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { dispatchMessage } from '../support/scenario-job.ts';
import { makeJob } from '../support/send-jobs.ts';
import { median, report } from './figure.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';

const warmUps = 10;
const rounds = 40;
/** How many messages a run is given. */
const batches = [1, 10] as const;

/**
 * What the built worker computes for a message, in a process with nothing else in it, in front of the stack's tables, queues and
 * simulator: processor time is this machine's. The messages are one-time codes of an idle number, so that no run waits.
 */
export async function benchWorker(stack: RunningStack, signal: AbortSignal): Promise<void> {
  for (const size of batches) {
    const processorMs = await processorMsOfMessage(stack, size, signal);
    report({ figure: `worker.processor_ms_of_a_message_in_runs_of_${size}`, value: processorMs, unit: 'ms' });
  }
}

/** The median of some runs of so many messages. */
async function processorMsOfMessage(stack: RunningStack, size: number, signal: AbortSignal): Promise<number> {
  const worker = startFunction(stack, 'messages-dispatch', {});
  try {
    for (let round = 0; round < warmUps; round += 1) await timeOfRun(worker, size);
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timeOfRun(worker, size));
    const { json } = await call({ baseUrl: stack.addresses.platformUrl, route: takenRoute, signal });
    const { total } = v.parse(TakenSchema, json);
    if (total < (warmUps + rounds) * size) throw new Error(`the simulator has taken only ${total} messages`);
    return median(times) / size;
  } finally {
    worker.stop();
  }
}

const takenRoute = 'GET /_control/messages?limit=0';
const TakenSchema = v.object({ total: v.number() });
const NothingFailedSchema = v.object({ batchItemFailures: v.strictTuple([]) });

async function timeOfRun(worker: FunctionProcess, size: number): Promise<number> {
  const jobId = `01${randomUUID().replaceAll('-', '').slice(0, 24).toUpperCase()}`;
  const { answer, processorMs } = await worker.run({ Records: messagesOf(jobId, size).map(recordOf) });
  v.parse(NothingFailedSchema, answer);
  return processorMs;
}

function messagesOf(jobId: string, size: number): DispatchMessage[] {
  const acceptedAtMs = Date.now();
  const { plan } = makeJob([]);
  return audience(size, randomInt(10 ** 8)).map(({ to, params: { body, buttons } }, index) => {
    const recipient = { to, params: { body: [...body], buttons: [...buttons] } };
    const request = composeMessage(plan, recipient, dispatchIdOf({ jobId, index }));
    const own = { jobId, acceptedAtMs, request, urgent: true, credential: 'demo', limitPerSecond: 10_000 } as const;
    return dispatchMessage(index, own);
  });
}

function recordOf(message: DispatchMessage) {
  return {
    messageId: randomUUID(),
    receiptHandle: randomUUID(),
    body: JSON.stringify(message),
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) },
    messageAttributes: {},
    eventSource: 'aws:sqs',
  };
}
