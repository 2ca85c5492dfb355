import type { SQSClient } from '@aws-sdk/client-sqs';
import { packEntries, sendEntries } from '../../aws/sqs-batch.ts';
import type { ChunkSink } from './queue-chunks.ts';

/** The dispatch queue as the fan-out fills it. Rejects when SQS cannot be reached. */
export function waveQueue(client: SQSClient, url: string): ChunkSink {
  return { pack: packEntries, sendBatch: (entries) => sendEntries({ client, url }, entries) };
}
