import type { SQSClient } from '@aws-sdk/client-sqs';
import { packEntries, sendEntries } from '../../aws/sqs-batch.ts';
import type { ChunkSink } from './queue-chunks.ts';

export function waveQueue(client: SQSClient, url: string): ChunkSink {
  return { pack: packEntries, sendBatch: (entries) => sendEntries({ client, url }, entries) };
}
