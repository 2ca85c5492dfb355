import type { FunctionShape } from './shape.ts';

/** The gateway gives up at 30 s. Half a gigabyte is for its share of processor: start-up is what a caller waits for. */
export const endpoint = { timeoutSeconds: 29, memoryMb: 512 };

/** An endpoint behind the authorizer: its requests count for their client and user (D54). */
export function forClients({ tables = {}, settings = [], ...shape }: Partial<FunctionShape>): FunctionShape {
  return {
    ...endpoint,
    ...shape,
    tables: { ...tables, budgets: ['GetItem', 'UpdateItem'] },
    settings: [...settings, 'CLIENT_RATE_PER_MINUTE'],
  };
}
