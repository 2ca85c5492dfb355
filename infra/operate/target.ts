import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { queueClient } from '../../lib/aws/sqs.ts';
import { type PlatformTransport, platformTransport } from '../../lib/platform/transport.ts';
import {
  deadLettersOf,
  queuePurposes,
  resourceName,
  secretPurposes,
  stageDescription,
  stagePattern,
} from '../names.ts';
import { platformDefaults } from '../platform-defaults.ts';
import type { QueueName } from '../queues.ts';
import type { TableName } from '../tables.ts';
import { type Account, callersAccount } from './account.ts';
import { CommandError } from './command.ts';
import { type LocalStack, runningLocalStack } from './local-stacks.ts';
import { type SecretStore, secretStore } from './secret-store.ts';

/** An operator command works on one stage, on AWS or on this machine. */
export interface Target {
  readonly documentClient: DynamoDBDocumentClient;
  readonly secrets: SecretStore;
  tableName(table: TableName): string;
  secretName(variable: keyof typeof secretPurposes): string;
}

export interface OpenQueue {
  readonly client: SQSClient;
  readonly url: string;
}

/**
 * Opens the named stage with the usual AWS credentials and region, else the running local stack. It prints the target
 * on stderr, so that the operator sees it.
 */
export async function targetOf(stage: string | undefined): Promise<Target> {
  if (stage === undefined) {
    const stack = runningLocalStack();
    nameTarget(stack);
    return localTarget(stack);
  }
  requireStage(stage);
  nameTarget({ stage, ...(await callersAccount()) });
  return awsTarget(stage);
}

/** Throws `CommandError` for an invalid stage name. */
export function requireStage(stage: string): void {
  if (!stagePattern.test(stage)) throw new CommandError(`--stage must be ${stageDescription}, not ${stage}`);
}

/** Prints the target: `stage prod, account 123456789012, region eu-west-1`, or the local stack's address. */
export function nameTarget(target: Pick<LocalStack, 'apiUrl'> | (Account & { readonly stage: string })): void {
  console.error(
    'apiUrl' in target
      ? `the local stack at ${target.apiUrl}`
      : `stage ${target.stage}, account ${target.account}, region ${target.region}`,
  );
}

export function localTarget(
  stack: Pick<LocalStack, 'dynamodbEndpoint' | 'secretsEndpoint' | 'region' | 'stage'>,
): Target {
  const client = { region: stack.region, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  return {
    documentClient: documentClient({ ...client, endpoint: stack.dynamodbEndpoint }),
    secrets: secretStore(new SecretsManagerClient({ ...client, endpoint: stack.secretsEndpoint })),
    ...namesOf(stack.stage),
  };
}

const platformTimeoutMs = 10_000;

/** Returns the platform of a stage: by `PLATFORM_BASE_URL` and `PLATFORM_VERSION`, else the real one. */
export function platformOf(
  stage: string | undefined,
  { PLATFORM_BASE_URL, PLATFORM_VERSION }: NodeJS.ProcessEnv = process.env,
): PlatformTransport {
  if (stage === undefined) return localPlatform(runningLocalStack());
  return platformTransport({
    baseUrl: PLATFORM_BASE_URL || platformDefaults.baseUrl,
    version: PLATFORM_VERSION || platformDefaults.version,
    timeoutMs: platformTimeoutMs,
  });
}

export function localPlatform({ platformUrl }: Pick<LocalStack, 'platformUrl'>): PlatformTransport {
  return platformTransport({ baseUrl: platformUrl, version: platformDefaults.version, timeoutMs: platformTimeoutMs });
}

export function openQueue(stage: string | undefined, name: QueueName): Promise<OpenQueue> {
  return queueOfPurpose(stage, queuePurposes[name]);
}

export function openDeadLetters(stage: string | undefined, name: QueueName): Promise<OpenQueue> {
  return queueOfPurpose(stage, deadLettersOf(queuePurposes[name]));
}

async function queueOfPurpose(stage: string | undefined, purpose: string): Promise<OpenQueue> {
  if (stage !== undefined) {
    const client = queueClient();
    const { QueueUrl } = await client.send(new GetQueueUrlCommand({ QueueName: resourceName(stage, purpose) }));
    if (QueueUrl === undefined) throw new Error(`the queue ${purpose} has no address`);
    return { client, url: QueueUrl };
  }
  return localQueueOf(runningLocalStack(), purpose);
}

type StackWithQueues = Pick<LocalStack, 'queueUrls' | 'sqsEndpoint' | 'region' | 'stage'>;

export function localQueue(stack: StackWithQueues, name: QueueName): OpenQueue {
  return localQueueOf(stack, queuePurposes[name]);
}

function localQueueOf(stack: StackWithQueues, purpose: string): OpenQueue {
  const url = stack.queueUrls[resourceName(stack.stage, purpose)];
  if (url === undefined) throw new Error(`the local stack has no queue ${purpose}`);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { client: queueClient({ region: stack.region, credentials, endpoint: stack.sqsEndpoint }), url };
}

export function awsTarget(stage: string): Target {
  return { documentClient: documentClient(), secrets: secretStore(new SecretsManagerClient()), ...namesOf(stage) };
}

function namesOf(stage: string): Pick<Target, 'tableName' | 'secretName'> {
  return {
    tableName: (table) => resourceName(stage, table),
    secretName: (variable) => resourceName(stage, secretPurposes[variable]),
  };
}
