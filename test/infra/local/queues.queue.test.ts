import { randomUUID } from 'node:crypto';
import { GetQueueAttributesCommand, ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, expect, inject, test, vi } from 'vitest';
import type { LocalQueue } from '../../../infra/local/local-template.ts';
import { createQueues, queueUrlAt } from '../../../infra/local/queues.ts';
import { localQueueClient } from '../../support/stores.ts';

const client = localQueueClient();
const queueUrl = queueUrlAt(inject('sqsEndpoint'));
afterAll(() => client.destroy());
afterEach(() => vi.unstubAllEnvs());

const name = () => `queue-${randomUUID()}`;
const queue = (facts: Partial<LocalQueue> = {}): LocalQueue => {
  const queueName = name();
  const defaults = { visibilityTimeoutSeconds: 30, delaySeconds: 0, retentionSeconds: 345_600 };
  return { id: queueName, name: queueName, ...defaults, ...facts };
};
const attributesOf = async (queueName: string) => {
  const all = new GetQueueAttributesCommand({ QueueUrl: queueUrl(queueName), AttributeNames: ['All'] });
  return (await client.send(all)).Attributes;
};

test('a queue has the attributes of the template; its dead-letter queue is there first', async () => {
  const dead = queue({ retentionSeconds: 1_209_600 });
  const dispatches = queue({
    visibilityTimeoutSeconds: 360,
    delaySeconds: 3,
    redrive: { deadLetterQueueName: dead.name, maxReceiveCount: 5 },
  });
  const created: string[] = [];
  const watching = localQueueClient();
  watching.middlewareStack.add(
    (next, { commandName }) =>
      (call) => {
        if (commandName === 'CreateQueueCommand') created.push((call.input as { QueueName: string }).QueueName);
        return next(call);
      },
    { step: 'initialize' },
  );
  await createQueues({ client: watching, queueUrl, queues: [dispatches, dead] });
  watching.destroy();
  expect(created).toEqual([dead.name, dispatches.name]);
  expect(await attributesOf(dead.name)).toMatchObject({ MessageRetentionPeriod: '1209600', VisibilityTimeout: '30' });
  const attributes = await attributesOf(dispatches.name);
  expect(attributes).toMatchObject({ VisibilityTimeout: '360', DelaySeconds: '3', MessageRetentionPeriod: '345600' });
  expect(JSON.parse(attributes?.['RedrivePolicy'] ?? '')).toEqual({
    deadLetterTargetArn: `arn:aws:sqs:us-east-1:000000000000:${dead.name}`,
    maxReceiveCount: 5,
  });
});

test('creating again keeps the messages and brings the attributes up to date', async () => {
  const dead = queue();
  const dispatches = queue({ redrive: { deadLetterQueueName: dead.name, maxReceiveCount: 5 } });
  await createQueues({ client, queueUrl, queues: [dead, dispatches] });
  await client.send(new SendMessageCommand({ QueueUrl: queueUrl(dispatches.name), MessageBody: 'kept' }));
  const { redrive, ...withoutRedrive } = dispatches;
  await createQueues({ client, queueUrl, queues: [dead, { ...withoutRedrive, visibilityTimeoutSeconds: 60 }] });
  expect(redrive).toBeDefined();
  const attributes = await attributesOf(dispatches.name);
  expect(attributes).toMatchObject({ VisibilityTimeout: '60', ApproximateNumberOfMessages: '1' });
  expect(attributes).not.toHaveProperty('RedrivePolicy');
});

test('a queue URL works for a client that knows the endpoint from the environment only, without a warning', async () => {
  const dispatches = queue();
  await createQueues({ client, queueUrl, queues: [dispatches] });
  vi.stubEnv('AWS_ENDPOINT_URL_SQS', inject('sqsEndpoint'));
  const warn = vi.fn();
  const asInLambda = new SQSClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
    logger: { debug: () => undefined, info: () => undefined, warn, error: () => undefined },
  });
  await asInLambda.send(new SendMessageCommand({ QueueUrl: queueUrl(dispatches.name), MessageBody: 'hello' }));
  const { Messages } = await asInLambda.send(new ReceiveMessageCommand({ QueueUrl: queueUrl(dispatches.name) }));
  asInLambda.destroy();
  expect(Messages?.[0]?.Body).toBe('hello');
  expect(warn).not.toHaveBeenCalled();
});

test('the address of a queue is on the server itself, whatever path its endpoint has', () => {
  expect(queueUrlAt('http://127.0.0.1:9324/')('dispatches')).toBe('http://127.0.0.1:9324/000000000000/dispatches');
});
