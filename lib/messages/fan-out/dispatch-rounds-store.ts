import { DeleteCommand, type DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import { isOwnLease, LeaseSchema, leaseNames, mayTakeLease } from '../../aws/lease.ts';
import { DispatchItemStateSchema } from '../dispatch-item-state.ts';
import { dispatchKey, scheduledKey } from '../items.ts';
import {
  againstTaking,
  type DispatchRounds,
  leaseMs,
  type Progress,
  type RoundRecord,
  type RoundRun,
} from './dispatch-rounds.ts';

const RoundSchema = v.object({
  round: v.number(),
  lease: v.optional(LeaseSchema),
  dueMs: v.optional(v.number()),
});

/** These attributes are absent before the first round. */
const RoundsSchema = v.object({
  round: v.optional(RoundSchema),
  queued: v.optional(v.number(), 0),
  ofStretches: v.optional(v.array(v.number())),
  wave: v.optional(v.object({ from: v.optional(v.number()), until: v.number(), position: v.number() })),
});

/** This round may be taken. The dispatch must still be there: TTL may have removed it. */
const mayTake = `attribute_exists(head) AND (attribute_not_exists(#round) OR #round.#round <= :round) AND ${mayTakeLease('#round.lease')}`;
const isHeld = `#round.#round = :round AND ${isOwnLease('#round.lease')}`;
/** A write that the SDK repeats may land after the next announcement. */
const isNotBehind = '(attribute_not_exists(queued) OR queued <= :queued)';
/** An announcement without a wave may be followed by a wave from the same place, and must not overwrite it. */
const isNotBehindWave = '(attribute_not_exists(queued) OR queued < :queued OR attribute_not_exists(wave))';

const names = { '#round': 'round', ...leaseNames };

export function dispatchRoundsStore(
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  stored: Pick<DispatchRounds, 'find' | 'recipientsFrom' | 'begin'>,
): DispatchRounds {
  return {
    ...stored,

    take: async (run, nowMs) => {
      const { written, item } = await update(run, {
        UpdateExpression: 'SET #round = :record',
        ConditionExpression: mayTake,
        values: { ':nowMs': nowMs, ':record': heldFrom(nowMs, run) },
      });
      if (written) return { kind: 'taken', progress: progressOf(item), state: v.parse(DispatchItemStateSchema, item) };
      return against(item, run, nowMs) ?? { kind: 'over' };
    },

    announce: async (run, progress, nowMs) => {
      const { written, item } = await update(run, {
        UpdateExpression: writing(progress),
        ConditionExpression: `${isHeld} AND ${isNotBehind}${progress.wave === undefined ? ` AND ${isNotBehindWave}` : ''}`,
        values: { ...valuesOf(progress), ':record': heldFrom(nowMs, run) },
      });
      return written ? v.parse(DispatchItemStateSchema, item) : undefined;
    },

    handOver: async (run, progress, next) => {
      const { written, item } = await update(run, {
        UpdateExpression: writing(progress),
        ConditionExpression: isHeld,
        values: { ...valuesOf(progress), ':record': next },
      });
      // The SDK may repeat a write whose reply was lost, and then finds its own.
      return written || against(item, run, 0)?.kind === 'over';
    },

    leaveSchedule: async (dispatchId) => {
      await client.send(new DeleteCommand({ TableName: table, Key: scheduledKey(dispatchId) }));
    },
  };

  /** Returns the item after the write, or the item that refused it. */
  async function update(
    { dispatchId, round, owner }: RoundRun,
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
          ...{ TableName: table, Key: dispatchKey(dispatchId), ...change },
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

export function roundOf(item: unknown): RoundRecord | undefined {
  return v.parse(RoundsSchema, item).round;
}

function writing({ wave, ofStretches }: Progress): string {
  const stretches = ofStretches === undefined ? '' : ', ofStretches = :ofStretches';
  const progress = `SET #round = :record, queued = :queued${stretches}`;
  return wave === undefined ? `${progress} REMOVE wave` : `${progress}, wave = :wave`;
}

function valuesOf({ queued, wave, ofStretches }: Progress) {
  return { ':queued': queued, ':wave': wave, ':ofStretches': ofStretches };
}

function heldFrom(nowMs: number, { round, owner }: RoundRun) {
  return { round, lease: { owner, untilMs: nowMs + leaseMs } };
}

function progressOf(item: unknown): Progress {
  const { queued, wave, ofStretches } = v.parse(RoundsSchema, item);
  return { queued, wave, ofStretches };
}

/** A missing dispatch is treated like one without a round. */
function against(item: unknown, run: RoundRun, nowMs: number) {
  const { round } = v.parse(RoundsSchema, item ?? {});
  return againstTaking(round, run, nowMs);
}
