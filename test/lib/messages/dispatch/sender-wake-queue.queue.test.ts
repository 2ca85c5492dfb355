import { ReceiveMessageCommand, type SendMessageBatchCommandInput } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { decodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';
import { senderWakeQueue } from '../../../../lib/messages/dispatch/sender-wake-queue.ts';
import { injectFaults } from '../../../support/queue-faults.ts';
import { freshQueue, localQueueClient } from '../../../support/stores.ts';

const phoneNumberId = '300000000000001';
const wake = { phoneNumberId, dispatchId: 'J', part: 2, of: 8, delaySeconds: 0 };

test('wakes of a number are one request; each comes with when it was sent, in its group; a later one is held back', async () => {
  const [client, url] = [localQueueClient(), await freshQueue()];
  const requests: unknown[] = [];
  // The emulator tells no groups.
  client.middlewareStack.add(
    (next) => (args) => {
      const { Entries = [] } = args.input as SendMessageBatchCommandInput;
      requests.push(Entries.map(({ MessageGroupId }) => MessageGroupId));
      return next(args);
    },
    { step: 'initialize', name: 'groups' },
  );
  await senderWakeQueue({ client, url })([wake, { ...wake, part: 3, delaySeconds: 900 }]);
  expect(requests).toEqual([[phoneNumberId, phoneNumberId]]);
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['SentTimestamp'],
    }),
  );
  expect(Messages.map(({ Body = '' }) => decodeSenderWake(Body))).toEqual([wake]);
  const [{ Attributes } = {}] = Messages;
  expect(Attributes).toEqual({ SentTimestamp: expect.stringMatching(/^\d{13}$/) });
});

test('what the queue does not confirm is refused', async () => {
  const [client, url] = [localQueueClient(), await freshQueue()];
  injectFaults(client, () => 'before');
  await expect(senderWakeQueue({ client, url })([wake])).rejects.toThrow('injected fault');
});
