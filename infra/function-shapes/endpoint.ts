import type { FunctionShape } from './shape.ts';

/** The gateway times out at 30 s. The 512 MB buy processor share, because callers wait for start-up. */
export const endpoint = { timeoutSeconds: 29, memoryMb: 512 };

/** Shapes an endpoint behind the authorizer, whose requests count for their client and user (D54). */
export function forClients({ tables = {}, settings = [], ...shape }: Partial<FunctionShape>): FunctionShape {
  return {
    ...endpoint,
    ...shape,
    tables: { ...tables, budgets: ['GetItem', 'UpdateItem'] },
    settings: [...settings, 'CLIENT_RATE_PER_MINUTE'],
  };
}
