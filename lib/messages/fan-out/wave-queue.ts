import type { SQSClient } from '@aws-sdk/client-sqs';
import { packEntries, sendEntries } from '../../aws/sqs-batch.ts';
import type { ChunkSink } from './queue-chunks.ts';

/** The queue of jobs' chunks, as the fan-out fills it. Throws when it cannot be reached. */
export function waveQueue(client: SQSClient, url: string): ChunkSink {
  return { pack: packEntries, sendBatch: (entries) => sendEntries({ client, url }, entries) };
}
