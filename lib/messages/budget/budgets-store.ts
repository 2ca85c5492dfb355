import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type TableAccess, type TransactionAction, transactWrite } from '../../aws/dynamodb-batch.ts';
import { budgetKey, jobMemorySeconds, keptAfterLastCallMs, moneyKeptUntilSeconds, reservedKey } from '../items.ts';
import { type Budgets, monthOf, type Reservation } from './budgets.ts';

/*
 * A month of a client is one number, to which acceptance adds what it reserves, and counts of cost what becomes of it
 * (spend/count-step.ts). A job's own item says that it has reserved, and in which month, so that a repetition adds nothing.
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
      const { clientId, jobId, atMs, units } = reservation;
      const month = monthOf(atMs);
      const before = await committedOf(clientId, month);
      const refused = await transactWrite(messages, [
        reservationOf(reservation, TableName),
        additionOf(reservation, TableName),
      ]);
      const after = await committedOf(clientId, month);
      const isNew = refused?.[0]?.Code !== 'ConditionalCheckFailed';
      if (refused !== undefined && isNew) return { kind: 'over', committedUnits: after };
      if (!isNew) {
        // An earlier attempt has reserved; the limit was looked at then.
        const known = (await reservedOf(jobId))?.units ?? units;
        return { kind: 'reserved', beforeUnits: after - known, afterUnits: after };
      }
      // Others may have reserved meanwhile: the two enclose what this one passed, so no threshold is passed unseen.
      return { kind: 'reserved', beforeUnits: Math.min(before, after - units), afterUnits: after };
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
  // As long as any job may be kept that is accepted now: sends leave up to thirty days ahead (D56).
  const expiresAtSeconds = Math.ceil((atMs + keptAfterLastCallMs) / 1_000) + jobMemorySeconds;
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
