import { DeleteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { executor } from '../dispatch/item-store.ts';
import { callsOf } from '../dispatch/item-writes.ts';
import { scheduledKey } from '../dispatch/items.ts';
import { type DispatchRounds, roundWrites } from './dispatch-rounds.ts';

export function dispatchRoundsStore(
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  stored: Pick<DispatchRounds, 'find' | 'recipientsFrom' | 'begin'>,
): DispatchRounds {
  return {
    ...stored,
    ...callsOf(roundWrites, executor({ client, name: table })),
    leaveSchedule: async (dispatchId) => {
      await client.send(new DeleteCommand({ TableName: table, Key: scheduledKey(dispatchId) }));
    },
  };
}
