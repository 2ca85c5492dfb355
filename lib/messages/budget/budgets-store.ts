import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { type TableAccess, type TransactionAction, transactWrite } from '../../aws/dynamodb-batch.ts';
import { absent, checkOf } from '../../aws/item-write.ts';
import {
  budgetKey,
  dispatchKey,
  longestDispatchMemorySeconds,
  moneyKeptUntilSeconds,
  reservedKey,
} from '../dispatch/items.ts';
import { type Budgets, type DispatchReservation, monthOf, type Reservation } from './budgets.ts';

/*
 * A month is one number: acceptance and releases add reservations, counts subtract unspent money (spend/count-step.ts).
 * An item per dispatch makes a reservation idempotent and names its month; counts read it.
 */

const MonthSchema = v.optional(v.object({ committed: v.optional(v.number(), 0) }));
const ReservedSchema = v.optional(
  v.object({
    units: v.number(),
    month: v.string(),
    category: v.optional(v.string()),
    released: v.optional(v.literal(true)),
  }),
);

/** Returns the reservation in the item of `reservedKey`, or undefined where there is none any more. */
export function reservationIn(item: unknown): DispatchReservation | undefined {
  const reserved = v.parse(ReservedSchema, item);
  if (reserved === undefined || reserved.released) return undefined;
  const { units, category } = reserved;
  return { units, category };
}

export function budgetsStore(messages: TableAccess): Budgets {
  const { client, name: TableName } = messages;
  const read = async (Key: { readonly pk: string; readonly sk: string }) =>
    (await client.send(new GetCommand({ TableName, Key, ConsistentRead: true }))).Item;
  const committedOf = async (clientId: number, month: string) =>
    v.parse(MonthSchema, await read(budgetKey(clientId, month)))?.committed ?? 0;
  const reservedOf = async (dispatchId: string) => v.parse(ReservedSchema, await read(reservedKey(dispatchId)));

  return {
    reserve: async (reservation) => {
      const { clientId, atMs } = reservation;
      const refused = await transactWrite(messages, [
        reservationOf(reservation, TableName),
        additionOf({ ...reservation, month: monthOf(atMs) }, TableName),
      ]);
      const committedUnits = await committedOf(clientId, monthOf(atMs));
      // If the dispatch's item exists, an earlier attempt has reserved and checked the limit.
      if (refused === undefined || refused[0]?.Code === 'ConditionalCheckFailed') {
        return { kind: 'reserved', afterUnits: committedUnits };
      }
      return { kind: 'over', committedUnits };
    },

    raise: async ({ clientId, dispatchId, units, category, limitUnits }) => {
      const reserved = await reservedOf(dispatchId);
      if (reserved === undefined || reserved.released || reserved.units >= units) return { kind: 'raised' };
      const { month } = reserved;
      const refused = await transactWrite(messages, [
        {
          Update: {
            TableName,
            Key: reservedKey(dispatchId),
            UpdateExpression: 'SET units = :units, category = :category',
            ConditionExpression: 'units = :seen AND attribute_not_exists(released)',
            ExpressionAttributeValues: { ':units': units, ':category': category, ':seen': reserved.units },
          },
        },
        additionOf({ clientId, month, units: units - reserved.units, limitUnits }, TableName),
        // A cancellation stops the dispatch before it counts, so what it frees stays free.
        {
          ConditionCheck: {
            TableName,
            Key: dispatchKey(dispatchId),
            ...checkOf([absent('stop')]),
          },
        },
      ]);
      const [raised, added] = refused ?? [];
      // If the reservation has changed, another run has raised it.
      if (added?.Code !== 'ConditionalCheckFailed' || raised?.Code === 'ConditionalCheckFailed')
        return { kind: 'raised' };
      return { kind: 'over', committedUnits: await committedOf(clientId, month) };
    },

    release: async ({ clientId, dispatchId }) => {
      const reserved = await reservedOf(dispatchId);
      if (reserved === undefined || reserved.released) return;
      const { units, month } = reserved;
      await transactWrite(messages, [
        {
          Update: {
            TableName,
            Key: reservedKey(dispatchId),
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

function reservationOf({ dispatchId, atMs, units }: Reservation, TableName: string): TransactionAction {
  // The reservation is kept for the longest life of any dispatch, whatever its call times (D56).
  const expiresAtSeconds = Math.ceil(atMs / 1_000) + longestDispatchMemorySeconds;
  const Item = { ...reservedKey(dispatchId), units, month: monthOf(atMs), expiresAtSeconds };
  return { Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
}

interface Addition extends Pick<Reservation, 'clientId' | 'units' | 'limitUnits'> {
  readonly month: string;
}

function additionOf({ clientId, month, units, limitUnits }: Addition, TableName: string): TransactionAction {
  const most = limitUnits === undefined ? undefined : limitUnits - units;
  const begins = most === undefined || most >= 0 ? 'attribute_not_exists(committed) OR ' : '';
  return {
    Update: {
      TableName,
      Key: budgetKey(clientId, month),
      UpdateExpression: 'SET expiresAtSeconds = :expiry ADD committed :units',
      ConditionExpression: most === undefined ? undefined : `${begins}committed <= :most`,
      ExpressionAttributeValues: {
        ':units': units,
        ':expiry': moneyKeptUntilSeconds(Date.parse(`${month}-01`)),
        ':most': most,
      },
    },
  };
}
