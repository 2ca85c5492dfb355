import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { delayedQueue } from '../../../lib/aws/sqs-batch.ts';
import { decodeQueued, encodeWake } from '../../../lib/webhooks/delivery/pending.ts';
import { freshQueue, localQueueClient } from '../../support/stores.ts';

const client = localQueueClient();

const groups: unknown[] = [];
client.middlewareStack.add(
  (next) => async (args) => {
    if ('MessageGroupId' in args.input) groups.push(args.input.MessageGroupId);
    return await next(args);
  },
  { step: 'initialize', name: 'counts' },
);

const wakesAt = (url: string) => delayedQueue<number>({ client, url }, encodeWake, String);

test('a message comes as it was sent, in its message group', async () => {
  const url = await freshQueue();
  await wakesAt(url).sendLater(1001, 0);
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
  expect(decodeQueued(Messages?.[0]?.Body ?? '')).toEqual({ wakeClientId: 1001 });
  expect(groups).toEqual(['1001']);
});

test('it stays away for the delay', async () => {
  const url = await freshQueue();
  await wakesAt(url).sendLater(1001, 900);
  expect((await client.send(new ReceiveMessageCommand({ QueueUrl: url }))).Messages).toBeUndefined();
});
