import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type TableAccess, type TransactionAction, transactWrite } from '../../aws/dynamodb-batch.ts';
import { budgetKey, longestJobMemorySeconds, moneyKeptUntilSeconds, reservedKey } from '../items.ts';
import { type Budgets, monthOf, type Reservation } from './budgets.ts';

/*
 * A month is one number: acceptance adds reservations, counts subtract unspent money (spend/count-step.ts). An item per
 * job makes a reservation idempotent and names its month.
 */

const MonthSchema = v.optional(v.object({ committed: v.optional(v.number(), 0) }));
const ReservedSchema = v.optional(
  v.object({ units: v.number(), month: v.string(), released: v.exactOptional(v.literal(true)) }),
);

export function budgetsStore(messages: TableAccess): Budgets {
  const { documentClient, tableName: TableName } = messages;
  const read = async (Key: { readonly pk: string; readonly sk: string }) =>
    (await documentClient.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
  const committedOf = async (clientId: number, month: string) =>
    v.parse(MonthSchema, await read(budgetKey(clientId, month)))?.committed ?? 0;
  const reservedOf = async (jobId: string) => v.parse(ReservedSchema, await read(reservedKey(jobId)));

  return {
    reserve: async (reservation) => {
      const { clientId, atMs } = reservation;
      const refused = await transactWrite(messages, [
        reservationOf(reservation, TableName),
        additionOf(reservation, TableName),
      ]);
      const committedUnits = await committedOf(clientId, monthOf(atMs));
      // If the job's item exists, an earlier attempt has reserved and checked the limit.
      if (refused === undefined || refused[0]?.Code === 'ConditionalCheckFailed') {
        return { kind: 'reserved', afterUnits: committedUnits };
      }
      return { kind: 'over', committedUnits };
    },

    release: async ({ clientId, jobId }) => {
      const reserved = await reservedOf(jobId);
      if (reserved === undefined || reserved.released) return;
      const { units, month } = reserved;
      await transactWrite(messages, [
        {
          Update: {
            TableName,
            Key: reservedKey(jobId),
            UpdateExpression: 'SET released = :true',
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(released)',
            ExpressionAttributeValues: { ':true': true },
          },
        },
        {
          Update: {
            TableName,
            Key: budgetKey(clientId, month),
            UpdateExpression: 'ADD committed :units',
            ExpressionAttributeValues: { ':units': -units },
          },
        },
      ]);
    },

    committedUnits: async (clientId, atMs) => await committedOf(clientId, monthOf(atMs)),
  };
}

function reservationOf({ jobId, atMs, units }: Reservation, TableName: string): TransactionAction {
  // The reservation is kept for the longest life of any job, whatever its call times (D56).
  const expiresAtSeconds = Math.ceil(atMs / 1_000) + longestJobMemorySeconds;
  const Item = { ...reservedKey(jobId), units, month: monthOf(atMs), expiresAtSeconds };
  return { Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

function additionOf({ clientId, atMs, units, limitUnits }: Reservation, TableName: string): TransactionAction {
  const month = monthOf(atMs);
  const most = limitUnits === undefined ? undefined : limitUnits - units;
  const begins = most === undefined || most >= 0 ? 'attribute_not_exists(committed) OR ' : '';
  return {
    Update: {
      TableName,
      Key: budgetKey(clientId, month),
      UpdateExpression: 'SET expiresAtSeconds = :expiry ADD committed :units',
      ...(most === undefined ? {} : { ConditionExpression: `${begins}committed <= :most` }),
      ExpressionAttributeValues: {
        ':units': units,
        ':expiry': moneyKeptUntilSeconds(Date.parse(`${month}-01`)),
        ...(most === undefined ? {} : { ':most': most }),
      },
    },
  };
}
