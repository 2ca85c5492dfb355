import { writeFileSync } from 'node:fs';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import { localRegion } from '../../infra/local/intrinsics.ts';
import type { LocalStack } from '../../infra/operate/local-stacks.ts';
import { awsTarget, localTarget, type Target } from '../../infra/operate/target.ts';
import { storePause } from '../../lib/aws/pause.ts';
import { type Outcomes, outcomesStore, type PlacedOutcome } from '../../lib/messages/report/outcomes-store.ts';
import { addressOf } from './addresses.ts';
import { eventually } from './api.ts';

/** The stores of a local stack, as the operator commands reach them. */
export interface StackAddresses {
  readonly dynamodbEndpoint: string;
  readonly secretsEndpoint: string;
}

/** The stores of the stack that the contract tests share, or of the one given. */
export function runningTarget(addresses?: StackAddresses): Target {
  const stage = inject('acceptance')?.stage;
  if (stage !== undefined) return awsTarget(stage);
  const { dynamodbEndpoint, secretsEndpoint } = addresses ?? {
    dynamodbEndpoint: addressOf('dynamodbEndpoint'),
    secretsEndpoint: addressOf('secretsEndpoint'),
  };
  return localTarget({ dynamodbEndpoint, secretsEndpoint, region: localRegion, stage: 'local' });
}

/** Writes down where the shared stack is, as `npm start` does, for commands that a test runs. */
export function noteRunningStack(file: string): void {
  writeFileSync(file, JSON.stringify(runningStack()));
}

/** Where the shared stack is. */
export function runningStack(): LocalStack {
  return {
    pid: process.pid,
    apiUrl: addressOf('apiUrl'),
    platformUrl: addressOf('platformUrl'),
    dynamodbEndpoint: addressOf('dynamodbEndpoint'),
    sqsEndpoint: addressOf('sqsEndpoint'),
    secretsEndpoint: addressOf('secretsEndpoint'),
    queueUrls: addressOf('queueUrls'),
    webhookReceiverPort: addressOf('webhookReceiverPort'),
    region: localRegion,
    stage: 'local',
  };
}

/** What `npm run outcomes` reads. */
export function outcomesOn({ documentClient: client, tableName }: Target): Outcomes {
  return outcomesStore({ client, table: tableName('messages'), nowMs: Date.now, pause: storePause });
}

/** The outcomes of a job, by place in the request, once none of them is pending any more. */
export async function endingsOf(outcomes: Outcomes, jobId: string, withinMs?: number): Promise<PlacedOutcome[]> {
  return eventually(
    `every message of ${jobId} ends`,
    async () => {
      const job = await outcomes.findJob(jobId);
      if (job === undefined) return undefined;
      const endings = await outcomes.ofJob(job);
      return endings.some(({ state }) => state === 'pending') ? undefined : endings;
    },
    withinMs,
  );
}

export function queueClientAt(endpoint: string): SQSClient {
  return new SQSClient({
    endpoint,
    region: localRegion,
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  });
}

/** Messages that a queue holds: those waiting, those delayed and those handed to a consumer and not deleted. */
export async function messagesHeld(client: SQSClient, queueUrl: string): Promise<number> {
  const { Attributes } = await client.send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: [
        'ApproximateNumberOfMessages',
        'ApproximateNumberOfMessagesDelayed',
        'ApproximateNumberOfMessagesNotVisible',
      ],
    }),
  );
  return Object.values(Attributes ?? {}).reduce((sum, count) => sum + Number(count), 0);
}
