import { createHash } from 'node:crypto';
import { type DynamoDBDocumentClient, GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { type Leased, windowMs } from './lease.ts';
import type { LeaseCounter, UserMinute } from './leased-budget.ts';

/** A request that waits for its lease is worth no more. */
const patienceMs = 1_000;

/** Counters are of no use when the minute after theirs is over, by whatever clock. */
const keptSeconds = 3_600;

/**
 * The counters in the budgets table: an item for each client and minute, so that no client waits for another's. `leased`
 * is what all its users have leased, and beside it stands a number for each of them that was seen in the minute.
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
          // A user who was refused at the end of that minute has been seen.
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
 * The user's number in the item: four letters of a digest, so that some 130 users are a write unit, and other letters in
 * each minute, so that two users who share theirs, once in 16 million times, do so for a minute.
 */
function attributeOf({ userId, window }: UserMinute): string {
  return createHash('sha256').update(`${window} ${userId}`).digest('base64url').slice(0, 4);
}

const CountSchema = v.optional(v.number(), 0);

function leasedIn(item: Readonly<Record<string, unknown>> | undefined, user: string): Leased {
  return { all: v.parse(CountSchema, item?.['leased']), own: v.parse(CountSchema, item?.[user]) };
}
