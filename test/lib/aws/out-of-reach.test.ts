import { DynamoDBClient, GetItemCommand, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { expect, test } from 'vitest';
import { isOutOfReach, OutOfReach } from '../../../lib/aws/out-of-reach.ts';
import { injectFaults } from '../../support/faults.ts';

/** Whether a store has failed, or what was read is damaged: only the latter is blamed (D25). */

async function errorOf(client: DynamoDBClient): Promise<unknown> {
  const reading = client.send(new GetItemCommand({ TableName: 't', Key: { pk: { S: 'p' } } }));
  return await reading.then(
    () => 'no error',
    (error: unknown) => error,
  );
}

const clientOf = () =>
  new DynamoDBClient({
    region: 'eu-west-1',
    endpoint: 'http://127.0.0.1:9',
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    maxAttempts: 1,
  });

test('what no answer came from is out of reach, and what is throttled or in another transaction', async () => {
  expect(isOutOfReach(await errorOf(clientOf()))).toBe(true);
  for (const kind of ['fail_before', 'throttle', 'transaction_conflict'] as const) {
    const client = clientOf();
    injectFaults(client, () => ({ kind }));
    expect(isOutOfReach(await errorOf(client)), kind).toBe(true);
  }
  expect(isOutOfReach(new OutOfReach('2 keys stayed unprocessed'))).toBe(true);
  expect(isOutOfReach(Object.assign(new Error('inner'), { $metadata: {}, $fault: 'server' }))).toBe(true);
});

test('a damaged item, a missing right and a wrong request are not', () => {
  const missing = new ResourceNotFoundException({ message: 'no table', $metadata: {} });
  const denied = Object.assign(new Error('denied'), { name: 'AccessDeniedException', $metadata: {}, $fault: 'client' });
  const cancelled = (Code: string) =>
    Object.assign(new Error('cancelled'), {
      ...{ name: 'TransactionCanceledException', $metadata: {}, $fault: 'client' },
      CancellationReasons: [{ Code: 'None' }, { Code }],
    });
  expect(isOutOfReach(cancelled('TransactionConflict'))).toBe(true);
  for (const error of [
    missing,
    denied,
    cancelled('ValidationError'),
    new TypeError('damaged'),
    new Error('gone'),
    'text',
    undefined,
  ]) {
    expect(isOutOfReach(error)).toBe(false);
  }
});
