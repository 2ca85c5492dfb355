import { ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { queueBody } from '../../../lib/aws/queue-body.ts';
import { freshQueue, localQueueClient } from '../../support/stores.ts';

test('any string survives the queue exactly, U+FFFE and lone surrogates included (R22)', async () => {
  const queue = await freshQueue();
  const client = localQueueClient();
  const samples = [
    ...fc.sample(fc.string({ unit: 'binary', maxLength: 200 }), 40),
    '\ufffe\uffff',
    '\ud800',
    '\u0000\u001f',
    '🙂',
  ];
  for (const text of samples) {
    await client.send(new SendMessageCommand({ QueueUrl: queue, MessageBody: queueBody({ text }) }));
    const { Messages } = await client.send(new ReceiveMessageCommand({ QueueUrl: queue }));
    expect(JSON.parse(Messages?.[0]?.Body ?? '{}')).toEqual({ text });
  }
});
