import type { SQSClient } from '@aws-sdk/client-sqs';
import { queueBody } from '../aws/queue-body.ts';
import { sendAtOnce } from '../aws/sqs-batch.ts';
import type { HintMessage } from './hint.ts';

/** Where hints wait for whoever reads again. */
export interface HintSink {
  /** Resolves when all of them are queued; throws when any may not be. */
  send(hints: readonly HintMessage[]): Promise<void>;
  /** The same for a message that is to arrive after a time. */
  sendLater(hint: HintMessage, delaySeconds: number): Promise<void>;
}

/** The hint queue; the WABA is the message group. What the queue refuses comes again with the whole webhook. */
export function hintQueue(client: SQSClient, url: string): HintSink {
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
