import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { postponer } from '../../../../lib/messages/fan-out/dispatch-queue.ts';
import { freshQueue, localQueueClient } from '../../../support/stores.ts';

const client = localQueueClient();

test('a delivery comes again after the time that was set, and not before', async () => {
  const queueUrl = await freshQueue();
  const postpone = postponer(client, queueUrl);
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: 'one' }));
  const receive = async () => {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 0, VisibilityTimeout: 60 }),
    );
    return Messages.map(({ ReceiptHandle }) => ReceiptHandle ?? '');
  };
  const [first = ''] = await receive();
  await postpone(first, 0);
  const [second = ''] = await receive();
  expect(second).not.toBe('');
  await postpone(second, 3_600);
  expect(await receive()).toEqual([]);
});
