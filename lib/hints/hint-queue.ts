import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../aws/queue-body.ts';
import { sendAtOnce } from '../aws/sqs-batch.ts';
import type { HintSink } from './hint.ts';

/** The hint queue; the WABA is the message group. What the queue refuses comes again with the whole webhook. */
export function hintQueue(client: SQSClient, url: string): HintSink {
  return {
    send: async (hints) => {
      const entries = hints.map((hint) => ({ body: queueBody(hint), group: hint.wabaId, delaySeconds: 0 }));
      await sendAtOnce({ client, url }, entries);
    },
  };
}
