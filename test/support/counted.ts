import { vi } from 'vitest';
import { metered } from '../../lib/observe/metrics.ts';

/**
 * Runs one invocation and returns the lines of metrics that it writes. What was counted outside of any invocation before is
 * thrown away, what else is written meanwhile is swallowed.
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
