import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Leased, windowMs } from './lease.ts';
import type { LeaseCounter, UserMinute } from './leased-budget.ts';

/** A request must not wait long for a lease. */
const patienceMs = 1_000;

/** An hour keeps counters past their minute even where clocks differ. */
const keptSeconds = 3_600;

/**
 * Keeps the counters in the budgets table: one item for each client and minute, so that clients do not contend. Beside
 * the total, `leased`, stands a number for each active user.
 */
export function leaseStore(documentClient: DynamoDBDocumentClient, tableName: string): LeaseCounter {
  return {
    lease: async (of, size, { half, evenAll }) => {
      const user = attributeOf(of);
      const write = documentClient.send(
        new UpdateCommand({
          TableName: tableName,
          Key: keyOf(of),
          ConditionExpression: `attribute_not_exists(#user) OR #user <= :before${evenAll ? ' OR #user = leased' : ''}`,
          UpdateExpression: 'ADD leased :size, #user :size SET expiresAtSeconds = :end',
          ExpressionAttributeNames: { '#user': user },
          ExpressionAttributeValues: {
            ':before': half - size,
            ':size': size,
            ':end': ((of.window + 1) * windowMs) / 1_000 + keptSeconds,
          },
          ReturnValues: 'UPDATED_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
        { abortSignal: AbortSignal.timeout(patienceMs) },
      );
      const lease = await conditionalWrite(write);
      const item = lease.written ? lease.output.Attributes : lease.existing;
      return { added: lease.written, leased: leasedIn(item, user) };
    },
    look: async (at) => {
      const user = attributeOf(at);
      const { Item } = await documentClient.send(
        new GetCommand({
          TableName: tableName,
          Key: keyOf(at),
          ProjectionExpression: 'leased, #user',
          ExpressionAttributeNames: { '#user': user },
          // An eventual read could miss a user refused at the end of that minute.
          ConsistentRead: true,
        }),
        { abortSignal: AbortSignal.timeout(patienceMs) },
      );
      return leasedIn(Item, user);
    },
  };
}

function keyOf({ clientId, window }: UserMinute): { readonly pk: string } {
  return { pk: `CLIENT#${clientId}#${window}` };
}

/**
 * Names a user by four letters of a digest: some 130 users a write unit. The minute salts it, so that two users collide
 * (once in 16 million) for one minute only.
 */
function attributeOf({ userId, window }: UserMinute): string {
  return createHash('sha256').update(`${window} ${userId}`).digest('base64url').slice(0, 4);
}

const CountSchema = v.optional(v.number(), 0);

function leasedIn(item: Readonly<Record<string, unknown>> | undefined, user: string): Leased {
  return { all: v.parse(CountSchema, item?.['leased']), own: v.parse(CountSchema, item?.[user]) };
}
