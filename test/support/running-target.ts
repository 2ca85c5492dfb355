import { writeFileSync } from 'node:fs';
import { GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { inject } from 'vitest';
import { localRegion } from '../../infra/local/intrinsics.ts';
import type { LocalStack } from '../../infra/operate/local-stacks.ts';
import { awsTarget, localTarget, type Target } from '../../infra/operate/target.ts';
import { storePause } from '../../lib/aws/pause.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { type Outcomes, outcomesStore, type PlacedOutcome } from '../../lib/messages/report/outcomes-store.ts';
import { addressOf } from './addresses.ts';
import { eventually } from './api.ts';

/** Operator commands reach the stores of a local stack here. */
export interface StackAddresses {
  readonly dynamodbEndpoint: string;
  readonly secretsEndpoint: string;
}

/** Reaches the stores of the given stack; by default of the contract tests' stack. */
export function runningTarget(addresses?: StackAddresses): Target {
  const stage = inject('acceptance')?.stage;
  if (stage !== undefined) return awsTarget(stage);
  const { dynamodbEndpoint, secretsEndpoint } = addresses ?? {
    dynamodbEndpoint: addressOf('dynamodbEndpoint'),
    secretsEndpoint: addressOf('secretsEndpoint'),
  };
  return localTarget({ dynamodbEndpoint, secretsEndpoint, region: localRegion, stage: 'local' });
}

/** Writes the address of the shared stack as `npm start` does, for commands that a test runs. */
export function noteRunningStack(file: string): void {
  writeFileSync(file, JSON.stringify(runningStack()));
}

/** Returns the address of the shared stack. */
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

/** Opens the store that `infra/ops outcomes` reads. */
export function outcomesOn({ documentClient: client, tableName }: Target): Outcomes {
  return outcomesStore(tableOf(client, tableName('messages'), { nowMs: Date.now, pause: storePause }));
}

/** Returns the outcomes of a dispatch by index, once none of them is pending. */
export async function endingsOf(outcomes: Outcomes, dispatchId: string, withinMs?: number): Promise<PlacedOutcome[]> {
  return eventually(
    `every message of ${dispatchId} ends`,
    async () => {
      const dispatch = await outcomes.findStored(dispatchId);
      if (dispatch === undefined) return undefined;
      const endings = await outcomes.ofDispatch(dispatch);
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

/** Counts messages in a queue: waiting, delayed, or in flight. */
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
