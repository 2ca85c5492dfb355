import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../../aws/queue-body.ts';
import { sendAtOnce } from '../../aws/sqs-batch.ts';
import { type InboundSink, inboundMessageVersion } from './inbound-message.ts';

/** The longest replies fill a fraction of a queue message, and one run can work them off. */
const mostUpdates = 50;

/** Sends to the inbound queue, with the WABA as message group. */
export function inboundQueue(client: SQSClient, url: string): InboundSink {
  return {
    send: (messages) =>
      sendAtOnce(
        { client, url },
        messages.flatMap(({ words, ...number }) =>
          Array.from({ length: Math.ceil(words.length / mostUpdates) }, (_, portion) => ({
            body: queueBody({
              version: inboundMessageVersion,
              ...number,
              words: words.slice(portion * mostUpdates, (portion + 1) * mostUpdates),
            }),
            group: number.wabaId,
            delaySeconds: 0,
          })),
        ),
      ),
  };
}
