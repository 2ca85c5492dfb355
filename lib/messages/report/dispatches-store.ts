import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { didPattern } from '../../access/directory.ts';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { type DispatchPointer, PointerSchema } from '../accept/whole-job.ts';
import { dispatchesPartition, jobKey, jobMemorySeconds } from '../items.ts';
import { boundsOf, type DispatchesQuestion } from './dispatches.ts';

/** The list of a client's dispatches: two round trips, whoever else uses the DID. */
export interface Dispatches {
  /**
   * Up to `limit` of them (at most 500), newest first, after the one with the sort key `after`. `next` is where the
   * following page begins; undefined on the last.
   */
  listAccepted(
    question: DispatchesQuestion,
    page: { readonly after: string | undefined; readonly limit: number },
  ): Promise<AcceptedPage>;
  /** Those of them that were not taken back since, by a request with the same key after its first one had died. */
  notWithdrawn(accepted: readonly DispatchPointer[]): Promise<readonly DispatchPointer[]>;
}

export interface AcceptedPage {
  readonly accepted: readonly DispatchPointer[];
  readonly next?: string;
}

const JobItemSchema = v.object({ pk: v.string(), withdrawnAtMs: v.optional(v.number()) });

export function dispatchesStore(
  client: DynamoDBDocumentClient,
  table: string,
  nowMs: () => number,
  pause: Pause = storePause,
): Dispatches {
  return {
    listAccepted: async ({ clientId, did, fromMs = 0, toMs }, { after, limit }) => {
      // Asked with all that a request may name, and DynamoDB refuses keys over 2 KB.
      if (!didPattern.test(did)) return { accepted: [] };
      // Older ones are on their way out, and have no report any more.
      const oldestMs = Math.max(fromMs, nowMs() - jobMemorySeconds * 1_000 + 1);
      const { from, to } = boundsOf({ fromMs: oldestMs, toMs });
      // A list that is read on 30 days after has ended meanwhile: DynamoDB refuses a start outside of what is asked for.
      if (from >= to || (after !== undefined && after < from)) return { accepted: [] };
      const pk = dispatchesPartition(clientId, did);
      const { Items = [] } = await client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'pk = :partition AND sk BETWEEN :from AND :to',
          ExpressionAttributeValues: {
            ':partition': pk,
            ':from': from,
            ':to': to,
          },
          // Who was told 200 a moment ago finds it here.
          ConsistentRead: true,
          ScanIndexForward: false,
          // One more tells whether there is a next page.
          Limit: limit + 1,
          ...(after === undefined ? {} : { ExclusiveStartKey: { pk, sk: after } }),
        }),
      );
      const accepted = Items.slice(0, limit).map((item) => v.parse(PointerSchema, item));
      const last = Items.length > limit ? accepted.at(-1) : undefined;
      return { accepted, ...(last === undefined ? {} : { next: last.sk }) };
    },

    notWithdrawn: async (accepted) => {
      const keys = accepted.map(({ jobId }) => jobKey(jobId));
      const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: false });
      const withdrawn = items
        .map((item) => v.parse(JobItemSchema, item))
        .filter(({ withdrawnAtMs }) => withdrawnAtMs !== undefined)
        .map(({ pk }) => pk);
      return accepted.filter(({ jobId }) => !withdrawn.includes(jobKey(jobId).pk));
    },
  };
}
