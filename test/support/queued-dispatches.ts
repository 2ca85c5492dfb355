import { DeleteMessageCommand, ReceiveMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { messageIdOf } from '../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { decodeSenderWake, type SenderWakeMessage } from '../../lib/messages/dispatch/sender-wake.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import { decodeSmallRequest, type SmallRequest } from '../../lib/messages/dispatch/small-request-message.ts';

/** Acceptance queues wakes of senders, and small requests. */
export interface Queued {
  readonly wakes: readonly SenderWakeMessage[];
  readonly requests: readonly SmallRequest[];
}

/** Takes every wake out of a queue. */
export async function drainWakes(client: SQSClient, queueUrl: string): Promise<SenderWakeMessage[]> {
  return (await drain(client, queueUrl)).map(decodeSenderWake);
}

/** Takes every message out of the queue of small requests. */
export async function drainRequests(client: SQSClient, queueUrl: string): Promise<SmallRequest[]> {
  return (await drain(client, queueUrl)).map(decodeSmallRequest);
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
 * Returns the dispatch ids that these messages send: of dispatches that have begun, and of small requests that workers
 * can claim.
 */
export async function dispatchIdsOf(
  { wakes, requests }: { readonly wakes: readonly Pick<SenderWakeMessage, 'dispatchId'>[] } & Pick<Queued, 'requests'>,
  documents: DynamoDBDocumentClient,
  table: string,
): Promise<Set<string>> {
  const accepted = acceptedDispatchesStore(tableOf(documents, table, { nowMs: Date.now }));
  const slices = sliceStore(tableOf(documents, table, { nowMs: Date.now }));
  const items = dispatchItemStore(tableOf(documents, table));
  const ids = new Set<string>();
  for (const { dispatchId = '' } of wakes) {
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
  for (const request of requests) {
    const { dispatchId, total } = request.head;
    const claim = { key: { dispatchId, slice: 0 }, try: 0, owner: 'a worker', atMs: Date.now(), size: total };
    if ((await slices.claim(claim)).kind === 'met' || (await accepted.beginStraight(request)) === 'withdrawn') continue;
    for (let index = 0; index < total; index += 1) ids.add(messageIdOf({ dispatchId, index }));
  }
  return ids;
}
