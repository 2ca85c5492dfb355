import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { decodeQueued } from '../../../../lib/webhooks/delivery/pending.ts';
import { wakeQueue } from '../../../../lib/webhooks/delivery/wake-queue.ts';
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

test('a wake comes as it was sent, in the message group of its client', async () => {
  const url = await freshQueue();
  await wakeQueue(client, url).wakeLater(1001, 0);
  const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: url }));
  expect(decodeQueued(Messages?.[0]?.Body ?? '')).toEqual({ wakeClientId: 1001 });
  expect(groups).toEqual(['1001']);
});

test('it stays away for the delay', async () => {
  const url = await freshQueue();
  await wakeQueue(client, url).wakeLater(1001, 900);
  expect((await client.send(new ReceiveMessageCommand({ QueueUrl: url }))).Messages).toBeUndefined();
});
