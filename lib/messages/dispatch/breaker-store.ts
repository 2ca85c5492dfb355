import { type DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { present } from '../../keys/present.ts';
import { breakerKey } from '../items.ts';
import { type Breaker, type Breakers, unknownBreaker } from './breaker.ts';

const BreakerSchema = v.object({
  version: v.number(),
  silentRuns: v.number(),
  silentAtMs: v.number(),
  open: v.optional(v.object({ sinceMs: v.number(), probeAtMs: v.number(), failedProbes: v.number() })),
});

/** Long after the last outage nothing of it is worth knowing. */
const breakerMemorySeconds = 30 * 86_400;

/** A worker that is too late as often leaves it to the others, which saw the same. */
const mostTries = 3;

interface StoreOptions {
  readonly client: DynamoDBDocumentClient;
  readonly table: string;
  readonly nowMs: () => number;
}

/** The breaker in its one item of the messages table. */
export function breakerStore({ client, table, nowMs }: StoreOptions): Breakers {
  return {
    find: async () => {
      // Half a unit for each batch. Who sees the state of a moment ago is a batch that began a moment earlier.
      const { Item } = await client.send(new GetCommand({ TableName: table, Key: breakerKey, ConsistentRead: false }));
      return breakerOf(Item);
    },

    change: async (seen, rule) => {
      let current = seen;
      for (let tries = 1; tries <= mostTries; tries += 1) {
        const next = rule(current);
        if (next === undefined) return undefined;
        const stored = { ...next, version: current.version + 1 };
        const write = await put(stored);
        if (write.written) return stored;
        current = breakerOf(write.existing);
      }
      return undefined;
    },
  };

  async function put({ open, ...breaker }: Breaker) {
    return await conditionalWrite(
      client.send(
        new PutCommand({
          TableName: table,
          Item: {
            ...breakerKey,
            ...breaker,
            ...present({ open }),
            expiresAtSeconds: Math.ceil(nowMs() / 1_000) + breakerMemorySeconds,
          },
          ConditionExpression: 'attribute_not_exists(pk) OR version = :seen',
          ExpressionAttributeValues: { ':seen': breaker.version - 1 },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
  }
}

function breakerOf(item: unknown): Breaker {
  if (item === undefined) return unknownBreaker;
  const { open, ...breaker } = v.parse(BreakerSchema, item);
  return { ...breaker, ...present({ open }) };
}
