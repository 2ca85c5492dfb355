import type { Table } from '../../aws/table.ts';
import { executor } from '../dispatch/item-store.ts';
import { callsOf } from '../dispatch/item-writes.ts';
import { type DispatchRounds, roundWrites } from './dispatch-rounds.ts';

export function dispatchRoundsStore(
  table: Pick<Table, 'client' | 'name'>,
  stored: Pick<DispatchRounds, 'find' | 'recipientsFrom' | 'list'>,
): DispatchRounds {
  return { ...stored, ...callsOf(roundWrites, executor(table)) };
}
