import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '../../aws/table.ts';
import { executor } from '../dispatch/item-store.ts';
import { callsOf } from '../dispatch/item-writes.ts';
import { scheduledKey } from '../dispatch/items.ts';
import { type DispatchRounds, roundWrites } from './dispatch-rounds.ts';

export function dispatchRoundsStore(
  table: Pick<Table, 'client' | 'name'>,
  stored: Pick<DispatchRounds, 'find' | 'recipientsFrom' | 'begin'>,
): DispatchRounds {
  return {
    ...stored,
    ...callsOf(roundWrites, executor(table)),
    leaveSchedule: async (dispatchId) => {
      await table.client.send(new DeleteCommand({ TableName: table.name, Key: scheduledKey(dispatchId) }));
    },
  };
}
