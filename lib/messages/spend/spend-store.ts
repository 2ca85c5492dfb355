import type { TransactionAction } from '../../aws/dynamodb-batch.ts';
import { queryPartition, transactWrite } from '../../aws/dynamodb-batch.ts';
import type { Table } from '../../aws/table.ts';
import {
  budgetKey,
  dispatchExpiresAtSeconds,
  dispatchPartition,
  moneyKeptUntilSeconds,
  receiptGroupOf,
  receiptPartition,
  spendPartition,
  spentKey,
} from '../dispatch/items.ts';
import { partitionsOfDispatch } from '../report/report-cursor.ts';
import { describedIn, proofsIn, reportStore } from '../report/report-store.ts';
import type { SpendLedger } from './count-dispatches.ts';
import type { CountStep } from './count-step.ts';
import { statementItem, statementOf } from './statement.ts';

/** A client's day has several items, because concurrent transactions on one item refuse each other. */
const shardsOfDay = 4;

export function spendStore(messages: Table): SpendLedger {
  const { name: table, nowMs } = messages;
  const report = reportStore(messages, { consistent: true });
  return {
    read: async (dispatchId) => {
      const items = await queryPartition(messages, dispatchPartition(dispatchId));
      const dispatch = describedIn(items);
      if (dispatch === undefined) return undefined;
      const stated = items.find(({ sk }) => sk === spentKey('').sk);
      return { dispatch, statement: stated === undefined ? undefined : statementOf(stated) };
    },

    readMessages: async ({ dispatchId, total }, { slices }) => {
      if (slices) return await report.readMessages(dispatchId, partitionsOfDispatch(total), { consistent: true });
      const askedAtMs = nowMs();
      const groups = Array.from({ length: receiptGroupOf(total - 1) + 1 }, (_, group) => group);
      const items = await Promise.all(
        groups.map((group) => queryPartition(messages, receiptPartition(dispatchId, group))),
      );
      return { slices: new Map(), proofs: proofsIn(items.flat()), askedAtMs };
    },

    write: async (step) => (await transactWrite(messages, actionsOf(step, table))) === undefined,
  };
}

function actionsOf({ clientId, stated, days, months }: CountStep, TableName: string): TransactionAction[] {
  const shard = shardOf(stated[0]?.head.dispatchId ?? '');
  return [
    ...stated.map((one) => statementAction(one, TableName)),
    ...[...days]
      .filter(([, sums]) => sums.size > 0)
      .map(([day, sums]) => {
        const Key = { pk: spendPartition(clientId), sk: `${day}#${shard}` };
        return addition({ TableName, Key, sums, fromMs: Date.parse(day) });
      }),
    ...[...months].map(([month, units]) => {
      const sums = new Map([['committed', units]]);
      return addition({ TableName, Key: budgetKey(clientId, month), sums, fromMs: Date.parse(`${month}-01`) });
    }),
  ];
}

function statementAction(
  { head, before, statement }: CountStep['stated'][number],
  TableName: string,
): TransactionAction {
  const Item = {
    ...spentKey(head.dispatchId),
    ...statementItem(statement),
    expiresAtSeconds: dispatchExpiresAtSeconds(head),
  };
  if (before === undefined) return { Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' } };
  return {
    Put: {
      TableName,
      Item,
      ConditionExpression: '#version = :before',
      ExpressionAttributeNames: { '#version': 'version' },
      ExpressionAttributeValues: { ':before': before },
    },
  };
}

/** Adds to the sums of an item, and creates it if missing. */
function addition({
  TableName,
  Key,
  sums,
  fromMs,
}: {
  readonly TableName: string;
  readonly Key: { readonly pk: string; readonly sk: string };
  readonly sums: ReadonlyMap<string, number>;
  readonly fromMs: number;
}): TransactionAction {
  const added = [...sums].map(([attribute, by], at) => ({ name: `#${at}`, value: `:${at}`, attribute, by }));
  return {
    Update: {
      TableName,
      Key,
      UpdateExpression: `SET expiresAtSeconds = :expiry ADD ${added.map(({ name, value }) => `${name} ${value}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(added.map(({ name, attribute }) => [name, attribute])),
      ExpressionAttributeValues: {
        ':expiry': moneyKeptUntilSeconds(fromMs),
        ...Object.fromEntries(added.map(({ value, by }) => [value, by])),
      },
    },
  };
}

/** Dispatch ids end at random. */
function shardOf(dispatchId: string): number {
  return (dispatchId.codePointAt(dispatchId.length - 1) ?? 0) % shardsOfDay;
}
