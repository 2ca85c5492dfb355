import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { holdsOf } from '../holds/hold-store.ts';
import { holdsKey, jobKey, jobOfPartition, paceKey } from '../items.ts';
import { jobStateOf } from '../job-state-store.ts';
import { unknownPace } from '../pace/number-pace.ts';
import { paceOf } from '../pace/pace-items.ts';
import type { StandingJobs } from './chunk-ports.ts';

/** How a number, its WABA and some jobs stand in the messages table: one strongly consistent request. */
export function standingStore(
  client: DynamoDBDocumentClient,
  table: string,
  pause: Pause = storePause,
): StandingJobs['look'] {
  return async ({ wabaId, phoneNumberId, jobIds }) => {
    const held = holdsKey(wabaId);
    const number = phoneNumberId === undefined ? undefined : paceKey(phoneNumberId);
    const keys = [held, ...(number === undefined ? [] : [number]), ...[...new Set(jobIds)].map(jobKey)];
    const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true });
    const holds = items.find(({ pk }) => pk === held.pk);
    const pace = items.find(({ pk }) => pk === number?.pk);
    const jobs = items.filter((item) => item !== pace && item !== holds);
    return {
      pace: pace === undefined ? unknownPace : paceOf(pace),
      holds: holdsOf(holds),
      jobs: new Map(jobs.map((item) => [jobOfPartition(item['pk']), jobStateOf(item)])),
    };
  };
}
