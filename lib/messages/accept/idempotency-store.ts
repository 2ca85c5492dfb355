import { DeleteCommand, GetCommand, PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import type { Table } from '../../aws/table.ts';
import { idempotencyKey } from '../dispatch/items.ts';
import { packed, unpacked } from '../dispatch/packed-json.ts';
import { type IdempotencyRecord, type IdempotencyRecords, type IdempotencyScope, rememberedMs } from './idempotency.ts';

const ItemSchema = v.object({
  bodyHash: v.string(),
  dispatchId: v.string(),
  startedAtMs: v.number(),
  state: v.picklist(['running', 'done']),
  warning: v.optional(v.string()),
  retries: v.optional(v.pipe(v.instance(Uint8Array), v.transform(indexesIn))),
});

/** This service wrote no text that unpacks to more. */
const maxUnpackedBytes = 131_072;

function indexesIn(bytes: Uint8Array<ArrayBuffer>): number[] {
  return v.parse(v.array(v.number()), unpacked(bytes, maxUnpackedBytes));
}

/** A run is its dispatch and its start: a takeover first renews the start alone. */
const isRun = 'dispatchId = :dispatchId AND startedAtMs = :startedAtMs';

function runValues({ dispatchId, startedAtMs }: IdempotencyRecord) {
  return { ':dispatchId': dispatchId, ':startedAtMs': startedAtMs };
}

/** An expired item counts as absent to a claim, whether or not TTL has removed it. */
export function idempotencyStore(table: Pick<Table, 'client' | 'name'>): IdempotencyRecords {
  const { client } = table;
  const put = (scope: IdempotencyScope, record: IdempotencyRecord) => {
    const rememberedUntilMs = scope.keptUntilMs ?? record.startedAtMs + rememberedMs;
    return {
      TableName: table.name,
      Item: {
        ...idempotencyKey(scope),
        ...record,
        retries: record.retries && packed(record.retries),
        rememberedUntilMs,
        expiresAtSeconds: Math.ceil(rememberedUntilMs / 1_000),
      },
    };
  };
  return {
    find: async (scope) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table.name, Key: idempotencyKey(scope), ConsistentRead: true }),
      );
      return Item && v.parse(ItemSchema, Item);
    },

    claim: async (scope, record) => {
      const condition = {
        ConditionExpression: 'attribute_not_exists(pk) OR rememberedUntilMs <= :nowMs',
        ExpressionAttributeValues: { ':nowMs': record.startedAtMs },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      } as const;
      const claim = await conditionalWrite(client.send(new PutCommand({ ...put(scope, record), ...condition })));
      return claim.written ? undefined : v.parse(ItemSchema, claim.existing);
    },

    takeOver: async (scope, stale, record) => {
      const condition = {
        ConditionExpression: `${isRun} AND #state = :running`,
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ...runValues(stale), ':running': 'running' },
      };
      const { written } = await conditionalWrite(client.send(new PutCommand({ ...put(scope, record), ...condition })));
      return written;
    },

    complete: async (scope, run, { warning }, abortSignal) => {
      const update = new UpdateCommand({
        TableName: table.name,
        Key: idempotencyKey(scope),
        ConditionExpression: isRun,
        UpdateExpression: `SET #state = :done${warning === undefined ? '' : ', warning = :warning'}`,
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ...runValues(run), ':done': 'done', ':warning': warning },
      });
      await conditionalWrite(client.send(update, { abortSignal }));
    },

    remove: async (scope, dispatchId, abortSignal) => {
      const removal = new DeleteCommand({
        TableName: table.name,
        Key: idempotencyKey(scope),
        ConditionExpression: 'dispatchId = :dispatchId AND #state = :running',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':dispatchId': dispatchId, ':running': 'running' },
      });
      await conditionalWrite(client.send(removal, { abortSignal }));
    },
  };
}
