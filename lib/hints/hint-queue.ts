import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../aws/queue-body.ts';
import { sendAtOnce } from '../aws/sqs-batch.ts';
import type { DelayedHints, HintMessage, HintSink } from './hint-message.ts';

/** Sends to the hint queue, with the WABA as message group. Refused hints come again with the retried webhook. */
export function hintQueue(client: SQSClient, url: string): HintSink & DelayedHints {
  const entryOf = (hint: HintMessage, delaySeconds: number) => ({
    body: queueBody(hint),
    group: hint.wabaId,
    delaySeconds,
  });
  return {
    send: (hints) =>
      sendAtOnce(
        { client, url },
        hints.map((hint) => entryOf(hint, 0)),
      ),
    sendLater: (hint, delaySeconds) => sendAtOnce({ client, url }, [entryOf(hint, delaySeconds)]),
  };
}
