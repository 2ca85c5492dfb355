import { DeleteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { batchGet, type Item, queryPages } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { omitUndefined } from '../../keys/omit-undefined.ts';
import { jobKey, jobOfPartition, scheduledKey, scheduledPartition, scheduledShards } from '../items.ts';
import { JobHeadSchema } from '../job.ts';
import { roundOf } from './job-rounds-store.ts';
import type { LostRoundsPorts, ScheduledJob, UnreadableJob } from './lost-rounds.ts';

const EntrySchema = v.object({ sk: v.string() });
const BegunSchema = v.object({ head: v.optional(v.pipe(v.string(), v.parseJson(), JobHeadSchema)) });

const pageItems = 100;

/** Reads scheduled jobs in the messages table, strongly consistently. */
export function scheduledJobsStore(
  client: DynamoDBDocumentClient,
  table: string,
  pause: Pause = storePause,
): LostRoundsPorts['scheduled'] {
  const access = { documentClient: client, tableName: table, pause };
  return {
    all: async function* () {
      for (let shard = 0; shard < scheduledShards; shard += 1) {
        const pages = queryPages(access, scheduledPartition(shard), { sort: undefined, consistent: true, pageItems });
        for await (const page of pages) {
          const keys = page.map((entry) => jobKey(v.parse(EntrySchema, entry).sk));
          const items = await batchGet(access, keys, { consistent: true });
          yield items.flatMap(readJob);
        }
      }
    },

    leave: async (jobId) => {
      await client.send(new DeleteCommand({ TableName: table, Key: scheduledKey(jobId) }));
    },
  };
}

/** Empty for a job that has not begun. Never throws: an unreadable item must not keep the look from others. */
function readJob(item: Item): (ScheduledJob | UnreadableJob)[] {
  try {
    const { head } = v.parse(BegunSchema, item);
    return head === undefined ? [] : [{ head, ...omitUndefined({ round: roundOf(item) }) }];
  } catch (error) {
    return [{ jobId: jobOfPartition(item['pk']), error }];
  }
}
