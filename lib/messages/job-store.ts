import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { JobHead } from './job.ts';

/** Placeholder with what acceptance needs of the fan-out's store: see acceptance-store.ts. */
export function jobStore(client: DynamoDBDocumentClient, table: string) {
  return {
    isCommitted: async (jobId: string): Promise<boolean> => {
      const Key = { pk: `JOB#${jobId}`, sk: 'COMMIT' };
      return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item !== undefined;
    },
    /** Undefined when the job was withdrawn: nothing of it may be queued. */
    begin: async (head: JobHead, _part: number): Promise<number | undefined> => {
      try {
        await client.send(
          new UpdateCommand({
            TableName: table,
            Key: { pk: `JOB#${head.jobId}`, sk: 'JOB' },
            ConditionExpression: 'attribute_not_exists(withdrawnAtMs)',
            UpdateExpression: 'SET head = :head',
            ExpressionAttributeValues: { ':head': head },
          }),
        );
        return 0;
      } catch (error) {
        if (error instanceof ConditionalCheckFailedException) return undefined;
        throw error;
      }
    },
  };
}
