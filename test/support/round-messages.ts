import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { decodeRound, type RoundMessage } from '../../lib/messages/accept/round-message.ts';
import { headOfChunk, type QueuedChunk, QueuedChunkSchema } from '../../lib/messages/dispatch/chunk.ts';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';

/** Acceptance queues dispatches for the fan-out, and chunks straight to the workers. */
export interface Queued {
  readonly dispatches: readonly RoundMessage[];
  readonly chunks: readonly QueuedChunk[];
}

/** Takes every message out of the fan-out queue. */
export async function drainDispatches(client: SQSClient, queueUrl: string): Promise<RoundMessage[]> {
  return (await drain(client, queueUrl)).map(decodeRound);
}

/** Takes every message out of a queue of chunks, parsed as their workers do. */
export async function drainChunks(client: SQSClient, queueUrl: string): Promise<QueuedChunk[]> {
  return (await drain(client, queueUrl)).map((body) => v.parse(QueuedChunkSchema, JSON.parse(body)));
}

async function drain(client: SQSClient, queueUrl: string): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 0 }),
    );
    if (Messages.length === 0) return bodies;
    for (const { Body = '', ReceiptHandle } of Messages) {
      bodies.push(Body);
      await client.send(new DeleteMessageCommand({ QueueUrl: queueUrl, ReceiptHandle }));
    }
  }
}

/**
 * Returns the dispatch ids that these messages send: of dispatches that have begun, and of chunks that workers can
 * claim.
 */
export async function dispatchIdsOf(
  { dispatches, chunks }: Queued,
  documents: DynamoDBDocumentClient,
  table: string,
): Promise<Set<string>> {
  const accepted = acceptedDispatchesStore(tableOf(documents, table, { nowMs: Date.now }));
  const slices = sliceStore(tableOf(documents, table, { nowMs: Date.now }));
  const items = dispatchItemStore(tableOf(documents, table));
  const ids = new Set<string>();
  for (const { dispatchId } of dispatches) {
    const dispatch = await accepted.find(dispatchId);
    const state = (await items.of([dispatchId])).get(dispatchId);
    if (dispatch === undefined || !state?.begun) continue;
    const { read } = parameterStore(tableOf(documents, table));
    for (let index = 0; index < dispatch.head.total; ) {
      for (const _ of await read(dispatchId, index)) {
        ids.add(messageIdOf({ dispatchId, index }));
        index += 1;
      }
    }
  }
  for (const chunk of chunks) {
    const { dispatchId, total } = headOfChunk(chunk);
    const claim = { key: { dispatchId, slice: 0 }, try: 0, owner: 'a worker', atMs: Date.now(), size: total };
    if ((await slices.claim(claim)).kind === 'met' || (await accepted.beginStraight(chunk)) === 'withdrawn') continue;
    for (let index = 0; index < total; index += 1) ids.add(messageIdOf({ dispatchId, index }));
  }
  return ids;
}
