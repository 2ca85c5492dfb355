import { randomUUID } from 'node:crypto';
import type { Context, SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { metered } from '../../observe/metrics.ts';
import { decodeSenderWake } from '../dispatch/sender-wake.ts';
import type { RunProcess } from '../send/chunk-ports.ts';
import { runSender } from './sender.ts';
import type { SenderKey, SenderPorts } from './sender-ports.ts';

/** A run has ports of its own. */
export type DeployedSender = (key: SenderKey) => Omit<SenderPorts, 'process'> & {
  readonly process: Omit<RunProcess, 'invocation' | 'remainingMs'>;
};

/**
 * Consumes wakes of numbers: each sends what its part has, or is acknowledged because another run does. A wake comes
 * again when its text cannot be read, or store or queue cannot be reached.
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
  try {
    await send(record, run);
    return [];
  } catch (error) {
    log('send.error', { error: errorName(error) });
    return [{ itemIdentifier: record.messageId }];
  }
}

async function send({ body, attributes }: SQSRecord, { portsOf, remainingMs }: Run): Promise<void> {
  const { phoneNumberId, part, of, delaySeconds } = decodeSenderWake(body);
  const key = { phoneNumberId, part, of };
  const { process, ...ports } = portsOf(key);
  const visibleMs = Number(attributes.SentTimestamp) + 1_000 * delaySeconds;
  const waitedMs = Math.max(0, process.nowMs() - visibleMs);
  await runSender({ ...key, waitedMs }, { ...ports, process: { ...process, invocation: randomUUID(), remainingMs } });
}
