import { vi } from 'vitest';
import { metered } from '../../lib/observe/metrics.ts';

/**
 * Runs one invocation and returns its metric lines. Metrics from before the invocation are discarded, and other output
 * is hidden.
 */
export async function countedBy(work: () => Promise<unknown>): Promise<Record<string, unknown>[]> {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await metered(async () => undefined);
    write.mockClear();
    await metered(work).catch(() => undefined);
    return write.mock.calls.map(([line]) => JSON.parse(String(line))).filter((line) => '_aws' in line);
  } finally {
    write.mockRestore();
  }
}
