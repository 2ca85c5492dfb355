import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { conditionalWrite } from '../../aws/conditional-write.ts';
import type { Table } from '../../aws/table.ts';
import { urgentKey } from '../dispatch/items.ts';
import { fittingCodes, type UrgentCapacity } from './urgent.ts';

const UrgentSchema = v.object({ nextMs: v.number() });

/** The counter means nothing once its time is past. */
const urgentMemorySeconds = 86_400;
/** Each refusal returns the counter. After this many, the caller takes another way. */
const mostTries = 5;

/**
 * Keeps slots of the last tenth in the messages table with one conditional write, two if the first guess of the counter
 * is wrong.
 */
export function urgentStore(table: Pick<Table, 'client' | 'name'>): UrgentCapacity {
  const { client } = table;
  return {
    take: async (phoneNumberId, { sizes, everyMs, nowMs, latestMs }) => {
      let nextMs = 0;
      for (let tries = 0; tries < mostTries; tries += 1) {
        const startMs = Math.max(nextMs, nowMs);
        const fitting = fittingCodes(sizes, { everyMs, leftMs: latestMs - startMs });
        if (fitting === 0) return [];
        const taken = await advance(phoneNumberId, { idle: nextMs < nowMs, nowMs, everyMs, fitting, latestMs });
        if (taken.firstMs !== undefined) {
          const { firstMs } = taken;
          return Array.from({ length: fitting }, (_, at) => firstMs + at * everyMs);
        }
        nextMs = taken.nextMs;
      }
      return [];
    },
  };

  /** With `idle` slots start now, else behind those given out. Returns the counter if refused. */
  async function advance(
    phoneNumberId: string,
    {
      idle,
      nowMs,
      everyMs,
      fitting,
      latestMs,
    }: {
      readonly idle: boolean;
      readonly nowMs: number;
      readonly everyMs: number;
      readonly fitting: number;
      readonly latestMs: number;
    },
  ): Promise<{ readonly firstMs: number } | { readonly firstMs: undefined; readonly nextMs: number }> {
    const stepMs = fitting * everyMs;
    const write = await conditionalWrite(
      client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: urgentKey(phoneNumberId),
          UpdateExpression: `SET nextMs = ${idle ? ':now' : 'nextMs'} + :step, expiresAtSeconds = :expiry`,
          ConditionExpression: idle ? 'attribute_not_exists(pk) OR nextMs < :now' : 'nextMs BETWEEN :now AND :latest',
          ExpressionAttributeValues: {
            ':now': nowMs,
            ':step': stepMs,
            ':expiry': Math.ceil(nowMs / 1_000) + urgentMemorySeconds,
            ...(idle ? {} : { ':latest': latestMs - stepMs + everyMs }),
          },
          ReturnValues: 'ALL_NEW',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      ),
    );
    if (write.written) return { firstMs: v.parse(UrgentSchema, write.output.Attributes).nextMs - stepMs };
    return {
      firstMs: undefined,
      nextMs: write.existing === undefined ? 0 : v.parse(UrgentSchema, write.existing).nextMs,
    };
  }
}
