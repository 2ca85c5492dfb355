import { type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { isOwnLease, LeaseSchema, leaseNames, mayTakeLease } from '../../aws/lease.ts';
import { present } from '../../keys/present.ts';
import { jobKey } from '../items.ts';
import { JobStateSchema } from '../job-state.ts';
import { againstTaking, type JobRounds, leaseMs, type Progress, type RoundRun } from './job-rounds.ts';

/** What the item of a job says of its rounds: all of it is absent until the first one is taken. */
const RoundsSchema = v.object({
  round: v.optional(v.object({ round: v.number(), lease: v.optional(LeaseSchema) })),
  queued: v.optional(v.number(), 0),
  wave: v.exactOptional(v.object({ until: v.number(), position: v.number() })),
});

/** Whose round it is, and that the job is there: TTL may have removed it. */
const mayTake = `attribute_exists(head) AND (attribute_not_exists(#round) OR #round.#round <= :round) AND ${mayTakeLease('#round.lease')}`;
const isHeld = `#round.#round = :round AND ${isOwnLease('#round.lease')}`;
/** An announcement that the SDK has repeated may land after the next one. */
const isNotBehind = '(attribute_not_exists(queued) OR queued <= :queued)';

const names = { '#round': 'round', ...leaseNames };

/** Rounds in the items of jobs, beside what acceptance stores of a job. */
export function jobRoundsStore(
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  stored: Pick<JobRounds, 'find' | 'recipientsFrom' | 'begin'>,
): JobRounds {
  return {
    ...stored,

    take: async (run, nowMs) => {
      const { written, item } = await update(run, {
        UpdateExpression: 'SET #round = :record',
        ConditionExpression: mayTake,
        values: { ':nowMs': nowMs, ':record': heldFrom(nowMs, run) },
      });
      if (written) return { kind: 'taken', progress: progressOf(item), state: v.parse(JobStateSchema, item) };
      return against(item, run, nowMs) ?? { kind: 'over' };
    },

    announce: async (run, progress, nowMs) => {
      const { written, item } = await update(run, {
        UpdateExpression: writing(progress),
        ConditionExpression: `${isHeld} AND ${isNotBehind}`,
        values: { ...valuesOf(progress), ':record': heldFrom(nowMs, run) },
      });
      return written ? v.parse(JobStateSchema, item) : undefined;
    },

    handOver: async (run, progress, nextRound) => {
      const { written, item } = await update(run, {
        UpdateExpression: writing(progress),
        ConditionExpression: isHeld,
        values: { ...valuesOf(progress), ':record': { round: nextRound } },
      });
      // The SDK repeats a write whose reply was lost, and then meets its own.
      return written || against(item, run, 0)?.kind === 'over';
    },
  };

  /** The item as it is then, or what was in the way. */
  async function update(
    { jobId, round, owner }: RoundRun,
    {
      values,
      ...change
    }: {
      readonly UpdateExpression: string;
      readonly ConditionExpression: string;
      readonly values: Readonly<Record<string, unknown>>;
    },
  ) {
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          ...{ TableName: table, Key: jobKey(jobId), ...change },
          ExpressionAttributeNames: names,
          ExpressionAttributeValues: { ':round': round, ':owner': owner, ...values },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    return { written: write.written, item: write.written ? write.output.Attributes : write.existing };
  }
}

function writing({ wave }: Progress): string {
  const progress = 'SET #round = :record, queued = :queued';
  return wave === undefined ? `${progress} REMOVE wave` : `${progress}, wave = :wave`;
}

function valuesOf({ queued, wave }: Progress) {
  return { ':queued': queued, ...present({ ':wave': wave }) };
}

function heldFrom(nowMs: number, { round, owner }: RoundRun) {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function progressOf(item: unknown): Progress {
  const { queued, wave } = v.parse(RoundsSchema, item);
  return { queued, ...present({ wave }) };
}

/** Of a job that is gone, as of one that no run has taken. */
function against(item: unknown, run: RoundRun, nowMs: number) {
  const { round } = v.parse(RoundsSchema, item ?? {});
  return againstTaking(round, run, nowMs);
}
