import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { expect, test } from 'vitest';
import { decodeSenderWake } from '../../../../lib/messages/dispatch/sender-wake.ts';
import { senderWakeQueue } from '../../../../lib/messages/dispatch/sender-wake-queue.ts';
import { injectFaults } from '../../../support/queue-faults.ts';
import { freshQueue, localQueueClient } from '../../../support/stores.ts';

const phoneNumberId = '300000000000001';
const wake = { phoneNumberId, dispatchId: 'J', part: 2, of: 8 };

test('a wake comes with when it was sent, in the group of its number; a later one is held back', async () => {
  const [client, url] = [localQueueClient(), await freshQueue()];
  const groups: unknown[] = [];
  // The emulator tells no groups.
  client.middlewareStack.add(
    (next) => (args) => {
      if ('MessageGroupId' in args.input) groups.push(args.input.MessageGroupId);
      return next(args);
    },
    { step: 'initialize', name: 'groups' },
  );
  const send = senderWakeQueue({ client, url });
  await send(wake, 0);
  await send({ ...wake, part: 3 }, 900);
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['SentTimestamp'],
    }),
  );
  expect(Messages.map(({ Body = '' }) => decodeSenderWake(Body))).toEqual([{ ...wake, delaySeconds: 0 }]);
  const [{ Attributes } = {}] = Messages;
  expect(Attributes).toEqual({ SentTimestamp: expect.stringMatching(/^\d{13}$/) });
  expect(groups).toEqual([phoneNumberId, phoneNumberId]);
});

test('what the queue does not confirm is refused', async () => {
  const [client, url] = [localQueueClient(), await freshQueue()];
  injectFaults(client, () => 'before');
  await expect(senderWakeQueue({ client, url })(wake, 0)).rejects.toThrow('injected fault');
});
