import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { queuePurposes, resourceName } from '../../infra/names.ts';
import { type QueueName, queues } from '../../infra/queues.ts';
import { queueMessageMaxBytes } from '../../lib/aws/queue-body.ts';
import { dispatchMemorySeconds } from '../../lib/messages/dispatch/items.ts';
import { dispatchTimeoutMs } from '../../lib/messages/send/deadlines.ts';
import { syncDeliveries } from '../../lib/templates/sync/sync-message.ts';
import { stacksOf } from '../support/stack-templates.ts';

/* Rules for all that holds state; templates/plain.txt names each table, secret and queue with its retention. */

const service = stacksOf('plain');
const propertiesOf = (type: string) => service.all(type).map(({ properties }) => properties);
const queueNamed = (purpose: string) =>
  service.all('AWS::SQS::Queue').find(({ properties }) => properties.QueueName === resourceName('test', purpose));
const day = 86_400;

it('each table is protected, encrypted and recoverable', () => {
  for (const table of propertiesOf('AWS::DynamoDB::Table')) {
    expect(table).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
    });
  }
});

it('each secret is empty until it is provisioned', () => {
  for (const secret of propertiesOf('AWS::SecretsManager::Secret')) {
    expect(secret).not.toHaveProperty('GenerateSecretString');
    expect(secret).not.toHaveProperty('SecretString');
  }
});

it('each queue, dead letters too, is encrypted, takes what the code makes, and is reached over TLS only (R23)', () => {
  const all = service.all('AWS::SQS::Queue');
  expect(all).toHaveLength(2 * Object.keys(queuePurposes).length);
  for (const { id, properties } of all) {
    expect(properties).toMatchObject({ SqsManagedSseEnabled: true, MaximumMessageSize: queueMessageMaxBytes });
    const policy = propertiesOf('AWS::SQS::QueuePolicy').find(({ Queues }) => service.target(Queues[0]) === id);
    expect(policy?.PolicyDocument.Statement).toMatchObject([
      { Effect: 'Deny', Action: 'sqs:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
    ]);
  }
});

it.each(Object.entries(queuePurposes) as [QueueName, string][])(
  'the queue %s shows a delivery again after six time-outs of its consumer (R23), and its dead letters stay longer',
  (name, purpose) => {
    const consumer = Object.values(functions).find((shape) => shape.consumes?.queue === name);
    const { RedrivePolicy, VisibilityTimeout, MessageRetentionPeriod } = queueNamed(purpose)?.properties ?? {};
    const dead = queueNamed(`${purpose}-dead`);
    expect(VisibilityTimeout).toBe(6 * (consumer?.timeoutSeconds ?? 0));
    expect(service.target(RedrivePolicy.deadLetterTargetArn)).toBe(dead?.id);
    expect(RedrivePolicy.maxReceiveCount).toBeGreaterThanOrEqual(5);
    expect(dead?.properties.MessageRetentionPeriod).toBe(14 * day);
    expect(MessageRetentionPeriod).toBeLessThan(14 * day);
  },
);

it.each(['dispatch', 'urgent'] as const)('a claim outlives a message of %s and of its dead letters (R23)', (name) => {
  const [live, dead] = [queuePurposes[name], `${queuePurposes[name]}-dead`].map(
    (purpose) => queueNamed(purpose)?.properties.MessageRetentionPeriod,
  );
  expect(live + dead).toBeLessThanOrEqual(dispatchMemorySeconds);
});

describe('the stateful stack', () => {
  it('holds state alone, and the stateless one none: no alarm stands in the way of a deletion', () => {
    const types = (resources: typeof service.stateful) => new Set(resources.map(({ type }) => type));
    const state = ['AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup'];
    expect([...types(service.stateful)].toSorted()).toEqual([...state, 'AWS::SQS::QueuePolicy'].toSorted());
    for (const type of state) expect(types(service.stateless)).not.toContain(type);
  });

  it('keeps what exists, and a failed creation removes only its own', () => {
    for (const choice of ['plain', 'whole'] as const) {
      for (const { id, deletionPolicy, updateReplacePolicy } of stacksOf(choice).stateful) {
        expect([id, deletionPolicy, updateReplacePolicy]).toEqual([id, 'RetainExceptOnCreate', 'Retain']);
      }
    }
  });
});

it('gives a synchronization up after as many deliveries as its worker counts', () => {
  expect(queues.sync.maxReceiveCount).toBe(syncDeliveries);
});

it('ends a sender, and a worker of small requests before, when the claims say it must be dead', () => {
  const timeoutMsOf = (name: string) => (functions[name]?.timeoutSeconds ?? 0) * 1_000;
  expect(timeoutMsOf('messages-dispatch')).toBe(dispatchTimeoutMs);
  expect(timeoutMsOf('messages-dispatch-urgent')).toBeLessThanOrEqual(dispatchTimeoutMs);
});
