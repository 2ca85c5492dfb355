import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../aws/queue-body.ts';
import { type DelayedQueue, delayedQueue, sendAtOnce } from '../aws/sqs-batch.ts';
import type { HintMessage, HintSink } from './hint-message.ts';

/** Sends to the hint queue, with the WABA as message group. Refused hints come again with the retried webhook. */
export function hintQueue(client: SQSClient, url: string): HintSink & DelayedQueue<HintMessage> {
  const queue = { client, url };
  return {
    send: (hints) =>
      sendAtOnce(
        queue,
        hints.map((hint) => ({ body: queueBody(hint), group: hint.wabaId, delaySeconds: 0 })),
      ),
    ...delayedQueue<HintMessage>(queue, queueBody, ({ wabaId }) => wabaId),
  };
}
