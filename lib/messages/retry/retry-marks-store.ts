import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import { dispatchKey, dispatchOfPartition, retriesKey } from '../dispatch/items.ts';
import { packed, unpacked } from '../dispatch/packed-json.ts';
import type { RetryMarks } from './mark-recipients.ts';
import { type Marking, noMarks, type RetryState } from './marks.ts';

/** This service wrote no text that unpacks to more. */
const maxUnpackedBytes = 4_194_304;

const ItemSchema = v.object({ version: v.number(), retries: v.instance(Uint8Array) });

/** Each retry has its dispatch, its time, and runs of indexes as (first, count). */
const RetriesSchema = v.array(v.tuple([v.string(), v.number(), v.array(v.tuple([v.number(), v.number()]))]));

const DispatchItemSchema = v.object({
  pk: v.string(),
  head: v.optional(v.unknown()),
  withdrawnAtMs: v.optional(v.number()),
});

/** Keeps one item per dispatch: ten thousand marks take a few kilobytes. */
export function retryMarksStore(table: Pick<Table, 'client' | 'name' | 'pause'>): RetryMarks {
  const { client } = table;
  return {
    find: async (dispatchId) => {
      const { Item } = await client.send(
        new GetCommand({ TableName: table.name, Key: retriesKey(dispatchId), ConsistentRead: true }),
      );
      if (Item === undefined) return noMarks;
      const { version, retries } = v.parse(ItemSchema, Item);
      return { version, retries: markingsIn(retries) };
    },

    replace: async ({ dispatchId, seen, next, keptUntilMs }) => {
      const Item = {
        ...retriesKey(dispatchId),
        version: next.version,
        retries: packed(next.retries.map(({ dispatchId: by, atMs, indexes }) => [by, atMs, runsOf(indexes)])),
        expiresAtSeconds: Math.ceil(keptUntilMs / 1_000),
      };
      const condition =
        seen.version === noMarks.version
          ? { ConditionExpression: 'attribute_not_exists(pk)' }
          : { ConditionExpression: 'version = :seen', ExpressionAttributeValues: { ':seen': seen.version } };
      return (await conditionalWrite(client.send(new PutCommand({ TableName: table.name, Item, ...condition }))))
        .written;
    },

    standingsOf: async (dispatchIds) => {
      const access = table;
      const items = await batchGet(access, [...new Set(dispatchIds)].map(dispatchKey), { consistent: true });
      return new Map(items.map((item) => standingIn(v.parse(DispatchItemSchema, item))));
    },
  };
}

function standingIn({
  pk,
  head,
  withdrawnAtMs,
}: v.InferOutput<typeof DispatchItemSchema>): readonly [string, RetryState] {
  if (withdrawnAtMs !== undefined) return [dispatchOfPartition(pk), 'withdrawn'];
  return [dispatchOfPartition(pk), head === undefined ? 'open' : 'begun'];
}

function markingsIn(bytes: Uint8Array): Marking[] {
  return v
    .parse(RetriesSchema, unpacked(bytes, maxUnpackedBytes))
    .map(([dispatchId, atMs, runs]) => ({ dispatchId, atMs, indexes: runs.flatMap(indexesOf) }));
}

function runsOf(indexes: readonly number[]): [number, number][] {
  const runs: [number, number][] = [];
  for (const index of indexes) {
    const last = runs.at(-1);
    if (last !== undefined && index === last[0] + last[1]) last[1] += 1;
    else runs.push([index, 1]);
  }
  return runs;
}

function indexesOf([from, count]: readonly [number, number]): number[] {
  return Array.from({ length: count }, (_, at) => from + at);
}
