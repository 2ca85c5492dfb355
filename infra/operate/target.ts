import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetQueueUrlCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { documentClient } from '../../lib/aws/dynamodb.ts';
import { queueClient } from '../../lib/aws/sqs.ts';
import { queuePurposes, resourceName, secretPurposes } from '../names.ts';
import type { QueueName } from '../queues.ts';
import type { TableName } from '../tables.ts';
import { CommandError } from './command.ts';
import { type SecretStore, secretStore } from './secret-store.ts';

/** What an operator command works on: one stage of the service, on AWS or on this machine. */
export interface Target {
  readonly documentClient: DynamoDBDocumentClient;
  readonly secrets: SecretStore;
  tableName(table: TableName): string;
  secretName(variable: keyof typeof secretPurposes): string;
}

/** A queue to send to. */
export interface OpenQueue {
  readonly client: SQSClient;
  readonly url: string;
}

/** What the local stack writes down while it runs. */
const LocalStackSchema = v.object({
  pid: v.number(),
  apiUrl: v.string(),
  platformUrl: v.string(),
  dynamodbEndpoint: v.string(),
  sqsEndpoint: v.string(),
  secretsEndpoint: v.string(),
  region: v.string(),
  stage: v.string(),
  queueUrls: v.record(v.string(), v.string()),
  /** Where `npm run webhooks:listen` receives events. */
  webhookReceiverPort: v.number(),
});

export type LocalStack = v.InferOutput<typeof LocalStackSchema>;

export const localStackFile = join(import.meta.dirname, '../../dist/local-stack.json');

/** The stage named, with the usual AWS credentials and region; the running local stack when none is named. */
export function targetOf(stage: string | undefined): Target {
  return stage === undefined ? localTarget(runningLocalStack()) : awsTarget(stage);
}

/** What the local stack that was started last has written down, running or not. */
export function readLocalStack(file: string = localStackFile): LocalStack | undefined {
  return existsSync(file) ? v.parse(LocalStackSchema, JSON.parse(readFileSync(file, 'utf8'))) : undefined;
}

/** The local stack that is running. Ends the command with status 2 when there is none. */
export function runningLocalStack(file: string = localStackFile): LocalStack {
  const stack = findLocalStack(file);
  if (stack === undefined) {
    throw new CommandError(
      'No local stack is running: start one with `npm start`, or name a deployed stage with --stage.',
    );
  }
  return stack;
}

/** The local stack that is running, if one is. */
export function findLocalStack(file: string = localStackFile): LocalStack | undefined {
  const stack = readLocalStack(file);
  return stack !== undefined && isRunning(stack.pid) ? stack : undefined;
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

/** A queue of the stage named, or of the running local stack. */
export async function openQueue(stage: string | undefined, name: QueueName): Promise<OpenQueue> {
  if (stage !== undefined) {
    const client = queueClient();
    const { QueueUrl } = await client.send(
      new GetQueueUrlCommand({ QueueName: resourceName(stage, queuePurposes[name]) }),
    );
    if (QueueUrl === undefined) throw new Error(`the queue ${name} has no address`);
    return { client, url: QueueUrl };
  }
  const stack = runningLocalStack();
  const url = stack.queueUrls[resourceName(stack.stage, queuePurposes[name])];
  if (url === undefined) throw new Error(`the local stack has no queue ${name}`);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return { client: queueClient({ region: stack.region, credentials, endpoint: stack.sqsEndpoint }), url };
}

function awsTarget(stage: string): Target {
  return { documentClient: documentClient(), secrets: secretStore(new SecretsManagerClient()), ...namesOf(stage) };
}

function namesOf(stage: string): Pick<Target, 'tableName' | 'secretName'> {
  return {
    tableName: (table) => resourceName(stage, table),
    secretName: (variable) => resourceName(stage, secretPurposes[variable]),
  };
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
