import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { count, metered } from '../../observe/metrics.ts';
import { decodeSenderWake, type SenderWakeMessage } from '../dispatch/sender-wake.ts';
import { batchLog } from '../send/batch-log.ts';
import type { RunProcess } from '../send/sending-ports.ts';
import { runSender } from './sender.ts';
import type { SenderKey, SenderPorts } from './sender-ports.ts';

/** A run has ports of its own. */
export type DeployedSender = (key: SenderKey) => Omit<SenderPorts, 'process'> & {
  readonly process: Omit<RunProcess, 'invocation' | 'remainingMs'>;
};

/**
 * Consumes wakes of numbers: each sends what its part has. Where another run does, or store or queue cannot be reached,
 * it is acknowledged: a sweep wakes what is left (sweep.ts). An unreadable text alone comes again.
 */
export function senderHandler(portsOf: DeployedSender) {
  return async (event: SQSEvent, context: Context): Promise<SQSBatchResponse> => {
    const remainingMs = () => context.getRemainingTimeInMillis();
    const failed = await metered(() =>
      Promise.all(event.Records.map((record) => afterWake(record, { portsOf, remainingMs }))),
    );
    return { batchItemFailures: failed.flat() };
  };
}

type Run = { readonly portsOf: DeployedSender; readonly remainingMs: () => number };

async function afterWake(record: SQSRecord, run: Run): Promise<SQSBatchResponse['batchItemFailures']> {
  let wake: SenderWakeMessage;
  try {
    wake = decodeSenderWake(record.body);
  } catch (error) {
    log('send.error', { error: errorName(error) });
    return [{ itemIdentifier: record.messageId }];
  }
  await send(wake, record, run).catch((error: unknown) => {
    count('SenderFailures');
    log('send.error', { error: errorName(error) });
  });
  return [];
}

async function send(
  { phoneNumberId, part, of, delaySeconds }: SenderWakeMessage,
  { attributes }: Pick<SQSRecord, 'attributes'>,
  { portsOf, remainingMs }: Run,
): Promise<void> {
  const key = { phoneNumberId, part, of };
  const { process, ...ports } = portsOf(key);
  const visibleMs = Number(attributes.SentTimestamp) + 1_000 * delaySeconds;
  const waitedMs = Math.max(0, process.nowMs() - visibleMs);
  const lines = batchLog(process);
  const ofRun = { ...process, log: lines.log, invocation: randomUUID(), remainingMs };
  try {
    await runSender({ ...key, waitedMs }, { ...ports, process: ofRun });
  } finally {
    lines.end(1);
  }
}
