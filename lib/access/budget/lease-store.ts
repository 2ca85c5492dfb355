import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { windowMs } from './lease.ts';
import type { LeaseCounter } from './leased-budget.ts';

/** A request that waits for its lease is worth no more. */
const patienceMs = 1_000;

/** Counters are of no use when their minute is over, by whatever clock. */
const keptSeconds = 3_600;

const CounterSchema = v.object({ leased: v.number() });

/** The counters in the budgets table: an item for each client and minute, so that no client waits for another's. */
export function leaseStore(documentClient: DynamoDBDocumentClient, tableName: string): LeaseCounter {
  return {
    lease: async ({ clientId, window }, size, limit) => {
      const lease = documentClient.send(
        new UpdateCommand({
          TableName: tableName,
          Key: { pk: `CLIENT#${clientId}#${window}` },
          ConditionExpression: 'attribute_not_exists(leased) OR leased < :limit',
          UpdateExpression: 'ADD leased :size SET expiresAtSeconds = :end',
          ExpressionAttributeValues: {
            ':limit': limit,
            ':size': size,
            ':end': ((window + 1) * windowMs) / 1_000 + keptSeconds,
          },
          ReturnValues: 'UPDATED_NEW',
        }),
        { abortSignal: AbortSignal.timeout(patienceMs) },
      );
      const leased = await conditionalWrite(lease);
      return leased.written ? v.parse(CounterSchema, leased.output.Attributes).leased - size : limit;
    },
  };
}
