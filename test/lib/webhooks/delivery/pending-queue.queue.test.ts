import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { decodeQueued } from '../../../../lib/webhooks/delivery/pending.ts';
import { pendingQueue } from '../../../../lib/webhooks/delivery/pending-queue.ts';
import { makeEvent } from '../../../support/delivery-world.ts';
import { freshQueue, localQueueClient } from '../../../support/stores.ts';

const client = localQueueClient();

const groups: unknown[] = [];
client.middlewareStack.add(
  (next) => async (args) => {
    if ('MessageGroupId' in args.input) groups.push(args.input.MessageGroupId);
    return await next(args);
  },
  { step: 'initialize', name: 'watch' },
);

test('what is put back comes again as it was, in the message group of its client', async () => {
  const url = await freshQueue();
  const pending = { event: makeEvent(1001), attempts: 3, firstSeenMs: 5, dueMs: 7, yields: 0 };
  await pendingQueue(client, url).sendLater(pending, 0);
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
  expect(decodeQueued(Messages?.[0]?.Body ?? '', 99)).toEqual({ isFresh: false, pending });
  expect(groups).toEqual(['1001']);
});

test('it stays away for the delay', async () => {
  const url = await freshQueue();
  const pending = { event: makeEvent(1001), attempts: 1, firstSeenMs: 5, dueMs: 7, yields: 0 };
  await pendingQueue(client, url).sendLater(pending, 900);
  expect((await client.send(new ReceiveMessageCommand({ QueueUrl: url }))).Messages).toBeUndefined();
});
