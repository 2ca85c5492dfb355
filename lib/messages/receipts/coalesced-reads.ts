/**
 * Shares one read at a time per partition among callers that ask before it begins. So every answer is from a read after
 * the caller's own write (items.ts, `unknownMarkKey`).
 */
export function coalescedReads<Found>(
  read: (partition: string) => Promise<Found>,
): (partition: string) => Promise<Found> {
  const running = new Map<string, Promise<Found>>();
  const waiting = new Map<string, Promise<Found>>();
  const readAfter = async (partition: string, before: Promise<Found> | undefined) => {
    // Even without an earlier read, this lets simultaneous callers join.
    await before?.catch(() => undefined);
    const own = waiting.get(partition);
    waiting.delete(partition);
    if (own !== undefined) running.set(partition, own);
    return await read(partition).finally(() => running.delete(partition));
  };
  return async (partition) => {
    const joined = waiting.get(partition);
    if (joined !== undefined) return await joined;
    const next = readAfter(partition, running.get(partition));
    waiting.set(partition, next);
    return await next;
  };
}
