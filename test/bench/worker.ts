import { randomInt, randomUUID } from 'node:crypto';
import * as v from 'valibot';
import { audience } from '../../infra/local/demo/audience.ts';
import { call } from '../../infra/local/demo/client.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { chunkVersion, type QueuedChunk } from '../../lib/messages/dispatch/chunk.ts';
import { aboutDispatch, messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { sliceSize } from '../../lib/messages/dispatch/slice.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { makeDispatch } from '../support/made-dispatches.ts';
import { median, report } from './figure.ts';
import { type FunctionProcess, startFunction } from './function-process.ts';

const warmUps = 10;
const rounds = 40;

/** A run gets chunks of so many recipients. */
interface Batch {
  readonly name: 'messages-dispatch' | 'messages-dispatch-urgent';
  readonly chunks: number;
  readonly size: number;
}
const ofOne: Batch = { name: 'messages-dispatch', chunks: 1, size: 1 };
const ofThirty: Batch = { name: 'messages-dispatch', chunks: 1, size: 30 };
const tenOfOne: Batch = { name: 'messages-dispatch-urgent', chunks: 10, size: 1 };

/**
 * Measures the processor time of the built worker for a run and for a message, in a process of its own, before the
 * stack's tables, queues and simulator. The number is idle.
 */
export async function benchWorker(stack: RunningStack, signal: AbortSignal): Promise<void> {
  const [one, thirty, ten] = [
    await processorMsOfRun(stack, ofOne, signal),
    await processorMsOfRun(stack, ofThirty, signal),
    await processorMsOfRun(stack, tenOfOne, signal),
  ];
  const ofMessage = (thirty - one) / (ofThirty.size - ofOne.size);
  report({ figure: 'worker.processor_ms_of_a_run_of_30', value: thirty, unit: 'ms' });
  report({ figure: 'worker.processor_ms_of_a_message', value: ofMessage, unit: 'ms' });
  report({ figure: 'worker.processor_ms_of_a_run_beside', value: one - ofMessage, unit: 'ms' });
  report({ figure: 'worker.processor_ms_of_a_run_of_ten_requests', value: ten, unit: 'ms' });
}

/** Returns the median of some runs. */
async function processorMsOfRun(stack: RunningStack, batch: Batch, signal: AbortSignal): Promise<number> {
  const worker = startFunction(stack, batch.name, {});
  try {
    for (let round = 0; round < warmUps; round += 1) await timeOfRun(worker, batch);
    const takenBefore = await takenAt(stack, signal);
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) times.push(await timeOfRun(worker, batch));
    const taken = (await takenAt(stack, signal)) - takenBefore;
    const messages = rounds * batch.chunks * batch.size;
    // A slot may be missed on a busy machine, and no worker here retries the message.
    if (taken < 0.9 * messages) throw new Error(`the simulator has taken only ${taken} of ${messages} messages`);
    return median(times);
  } finally {
    worker.stop();
  }
}

const TakenSchema = v.object({ total: v.number() });

async function takenAt({ addresses }: RunningStack, signal: AbortSignal): Promise<number> {
  const { json } = await call({ baseUrl: addresses.platformUrl, route: 'GET /_control/messages?limit=0', signal });
  return v.parse(TakenSchema, json).total;
}

const NothingFailedSchema = v.object({ batchItemFailures: v.strictTuple([]) });

async function timeOfRun(worker: FunctionProcess, { chunks, size }: Batch): Promise<number> {
  const Records = Array.from({ length: chunks }, () => recordOf(chunkOf(size)));
  const { answer, processorMs } = await worker.run({ Records });
  v.parse(NothingFailedSchema, answer);
  return processorMs;
}

function chunkOf(size: number): QueuedChunk {
  const dispatchId = `01${randomUUID().replaceAll('-', '').slice(0, 24).toUpperCase()}`;
  const { head, plan } = makeDispatch([], { dispatchId, acceptedAtMs: Date.now(), credential: 'demo', total: size });
  const { clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs } = head;
  const recipients = audience(size, randomInt(10 ** 8)).map(({ to, params: { body, buttons } }, index) => {
    const recipient = { to, params: { body: [...body], buttons: [...buttons] } };
    return { index, to, request: composeMessage(plan, recipient, messageIdOf({ dispatchId, index })) };
  });
  const slices = Array.from({ length: Math.ceil(size / sliceSize) }, (_, at) => {
    const some = recipients.slice(at * sliceSize, (at + 1) * sliceSize);
    return { try: 0, size: some.length, recipients: some };
  });
  return {
    version: chunkVersion,
    ...{ dispatchId, clientId, wabaId, phoneNumberId, credential, path, category, acceptedAtMs, slices },
    ...(size === 1 ? ({ straight: true, alone: true, lane: '*' } as const) : { lane: dispatchId.slice(-8) }),
    about: aboutDispatch(head),
    limitPerSecond: 80,
  };
}

function recordOf(chunk: QueuedChunk) {
  return {
    messageId: randomUUID(),
    receiptHandle: randomUUID(),
    body: JSON.stringify(chunk),
    attributes: { ApproximateReceiveCount: '1', SentTimestamp: String(Date.now()) },
    messageAttributes: {},
    eventSource: 'aws:sqs',
  };
}
