import { describe, expect, it } from 'vitest';
import { functions } from '../../infra/functions.ts';
import { queuePurposes, resourceName, secretPurposes } from '../../infra/names.ts';
import { type QueueName, queues } from '../../infra/queues.ts';
import { alarmDescription } from '../../infra/severity.ts';
import { type TableName, tables } from '../../infra/tables.ts';
import { queueMessageMaxBytes } from '../../lib/aws/queue-body.ts';
import { dispatchMemorySeconds } from '../../lib/messages/dispatch/items.ts';
import { dispatchTimeoutMs } from '../../lib/messages/send/deadlines.ts';
import { syncDeliveries } from '../../lib/templates/sync/sync-message.ts';
import { stacksOf } from '../support/stack-templates.ts';

const service = stacksOf('plain');
const queueByName = new Map(service.all('AWS::SQS::Queue').map((queue) => [queue.properties.QueueName, queue]));
const day = 86_400;

describe('tables', () => {
  it('are exactly those of infra/tables.ts', () => {
    const names = service.all('AWS::DynamoDB::Table').map((table) => table.properties.TableName);
    expect(names.sort()).toEqual(
      Object.keys(tables)
        .map((name) => `template-messaging-test-${name}`)
        .sort(),
    );
  });

  it.each(Object.keys(tables) as TableName[])('%s is protected, encrypted and recoverable', (name) => {
    const table = service.stateful.find(({ properties }) => properties.TableName === resourceName('test', name));
    expect(table?.properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      DeletionProtectionEnabled: true,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
    });
    expect(table?.properties.KeySchema.length).toBe(tables[name].sortKey ? 2 : 1);
    expect(table?.properties.TimeToLiveSpecification).toEqual(
      tables[name].expires ? { AttributeName: 'expiresAtSeconds', Enabled: true } : undefined,
    );
  });
});

describe('secrets', () => {
  it('are named by stage and purpose, and empty until they are provisioned', () => {
    const secrets = service.all('AWS::SecretsManager::Secret');
    expect(secrets.map(({ properties }) => properties.Name).sort()).toEqual(
      Object.values(secretPurposes)
        .map((purpose) => resourceName('test', purpose))
        .sort(),
    );
    for (const { properties } of secrets) {
      expect(properties).not.toHaveProperty('GenerateSecretString');
      expect(properties).not.toHaveProperty('SecretString');
    }
  });
});

describe.each(Object.entries(queuePurposes) as [QueueName, string][])('queue %s', (name, purpose) => {
  const queue = queueByName.get(resourceName('test', purpose));
  const deadLetters = queueByName.get(resourceName('test', `${purpose}-dead`));
  const consumer = Object.values(functions).find((shape) => shape.consumes?.queue === name);

  it('redrives to its own dead-letter queue, which keeps messages longer than it does', () => {
    const { deadLetterTargetArn, maxReceiveCount } = queue?.properties.RedrivePolicy ?? {};
    expect(service.target(deadLetterTargetArn)).toBe(deadLetters?.id);
    expect(maxReceiveCount).toBeGreaterThanOrEqual(5);
    expect(deadLetters?.properties.MessageRetentionPeriod).toBe(14 * day);
    expect(queue?.properties.MessageRetentionPeriod).toBeLessThan(14 * day);
  });

  it('keeps a delivery invisible for six times the time-out of its consumer (R23)', () => {
    expect(queue?.properties.VisibilityTimeout).toBe(6 * (consumer?.timeoutSeconds ?? 0));
  });

  it('takes messages as large as the code makes them', () => {
    for (const each of [queue, deadLetters]) expect(each?.properties.MaximumMessageSize).toBe(queueMessageMaxBytes);
  });

  it('is, like its dead-letter queue, encrypted and reached over TLS only (R23)', () => {
    for (const each of [queue, deadLetters]) {
      expect(each?.properties.SqsManagedSseEnabled).toBe(true);
      const policy = service
        .all('AWS::SQS::QueuePolicy')
        .find(({ properties }) => service.target(properties.Queues[0]) === each?.id);
      expect(policy?.properties.PolicyDocument.Statement).toMatchObject([
        { Effect: 'Deny', Action: 'sqs:*', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      ]);
    }
  });

  it('raises an alarm on the first dead letter, which names the affected users and the next step', () => {
    const alarm = service
      .all('AWS::CloudWatch::Alarm')
      .find(({ properties }) => properties.AlarmName === resourceName('test', `${purpose}-dead-letters`));
    expect(alarm?.properties).toMatchObject({
      Namespace: 'AWS/SQS',
      Dimensions: [{ Name: 'QueueName', Value: deadLetters?.properties.QueueName }],
      MetricName: 'ApproximateNumberOfMessagesVisible',
      ComparisonOperator: 'GreaterThanThreshold',
      Threshold: 0,
      AlarmDescription: alarmDescription({ ...queues[name], section: 'queues' }),
    });
  });
});

it.each(['dispatch', 'urgent'] as const)('a claim outlives a message of %s and of its dead letters (R23)', (name) => {
  const queue = queueByName.get(resourceName('test', queuePurposes[name]));
  const dead = queueByName.get(resourceName('test', `${queuePurposes[name]}-dead`));
  const lifeSeconds = queue?.properties.MessageRetentionPeriod + dead?.properties.MessageRetentionPeriod;
  expect(lifeSeconds).toBeLessThanOrEqual(dispatchMemorySeconds);
});

it('there is no queue that infra/names.ts does not name', () => {
  expect(queueByName.size).toBe(2 * Object.keys(queuePurposes).length);
});

it('the stateful stack holds state alone, and the stateless one none: no alarm stands in the way of a deletion', () => {
  const types = (resources: typeof service.stateful) => new Set(resources.map(({ type }) => type));
  const state = ['AWS::DynamoDB::Table', 'AWS::SecretsManager::Secret', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup'];
  expect([...types(service.stateful)].toSorted()).toEqual([...state, 'AWS::SQS::QueuePolicy'].toSorted());
  for (const type of state) expect(types(service.stateless)).not.toContain(type);
});

describe('existing resources stay, and a failed creation removes only its own', () => {
  it.each(service.stateful.map(({ id, type, ...policies }) => [type, id, policies] as const))(
    '%s %s',
    (_type, _id, { deletionPolicy, updateReplacePolicy }) => {
      expect([deletionPolicy, updateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
    },
  );

  it.each([
    ['plain', [true, true], true],
    ['address', [true, true], true],
    ['chosen', [true, false], true],
    ['edge', [false, false], false],
  ] as const)('settings %s: termination protection of the two stacks %j, of tables %s', (choice, stacks, ofTables) => {
    const { standing, all } = stacksOf(choice);
    const protection = (['Stateful', 'Stateless'] as const).map((id) => standing(id).terminationProtection);
    expect(protection).toEqual(stacks);
    const tablesProtected = all('AWS::DynamoDB::Table').map(({ properties }) => properties.DeletionProtectionEnabled);
    expect(new Set(tablesProtected)).toEqual(new Set([ofTables]));
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
