import { type Item, queryPartition, type TableAccess } from '../../aws/dynamodb-batch.ts';
import { spendPartition } from '../dispatch/items.ts';
import type { DaySums } from './spend.ts';

export interface SpendSums {
  /** Returns the items of these days (`YYYY-MM-DD`, inclusive), several a day, strongly consistent. */
  between(clientId: number, from: string, to: string): Promise<readonly DaySums[]>;
}

export function spendSumsStore(messages: TableAccess): SpendSums {
  return {
    between: async (clientId, from, to) => {
      // Sort keys of the last day extend its name.
      const items = await queryPartition(messages, spendPartition(clientId), { from, to: `${to}~` });
      return items.map(daySumsOf);
    },
  };
}

function daySumsOf({ pk: _client, sk, expiresAtSeconds: _until, ...sums }: Item): DaySums {
  return { day: String(sk).split('#', 1)[0] ?? '', sums: sums as Record<string, number> };
}
