import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { batchGet } from '../../aws/dynamodb-batch.ts';
import { type Pause, storePause } from '../../aws/pause.ts';
import { markKeysOf } from '../../opt-outs/opt-out-items.ts';
import { holdsOf } from '../holds/hold-store.ts';
import { holdsKey, jobKey, paceKey } from '../items.ts';
import { jobStateOf } from '../job-state-store.ts';
import { unknownPace } from '../pace/number-pace.ts';
import { paceOf } from '../pace/pace-items.ts';
import type { JobSnapshots } from './chunk-ports.ts';

/**
 * Reads number, WABA, jobs and opt-out marks in one strongly consistent request. Marks are never removed
 * (record-opt-out.ts), so a process reads each once.
 */
export function snapshotStore(
  client: DynamoDBDocumentClient,
  table: string,
  pause: Pause = storePause,
): JobSnapshots['look'] {
  const marked = new Set<string>();
  return async ({ wabaId, phoneNumberId, jobIds, optOutsOf }) => {
    const held = holdsKey(wabaId);
    const number = phoneNumberId === undefined ? undefined : paceKey(phoneNumberId);
    const marks = optOutsOf === undefined ? [] : markKeysOf(optOutsOf);
    const isMarked = () => marks.some(({ pk }) => marked.has(pk));
    const keys = [
      ...[held, ...(number === undefined ? [] : [number])],
      ...[...new Set(jobIds)].map(jobKey),
      ...(isMarked() ? [] : marks),
    ];
    const items = await batchGet({ documentClient: client, tableName: table, pause }, keys, { consistent: true });
    const byKey = new Map(items.map((item) => [item['pk'], item]));
    for (const { pk } of marks) if (byKey.has(pk)) marked.add(pk);
    const pace = number === undefined ? undefined : byKey.get(number.pk);
    const jobs = [...new Set(jobIds)].flatMap((jobId) => {
      const item = byKey.get(jobKey(jobId).pk);
      return item === undefined ? [] : [[jobId, jobStateOf(item)] as const];
    });
    return {
      pace: pace === undefined ? unknownPace : paceOf(pace),
      holds: holdsOf(byKey.get(held.pk)),
      jobs: new Map(jobs),
      anyStops: isMarked(),
    };
  };
}
