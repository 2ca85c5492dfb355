/**
 * One read at a time of each partition, for everybody who asks before it begins. Who asks while one runs waits for the next.
 * So no answer comes from a read that began before its caller asked, and that is after the caller's own write (items.ts,
 * `doubtKey`).
 */
export function sharedReads<Found>(read: (partition: string) => Promise<Found>): (partition: string) => Promise<Found> {
  const running = new Map<string, Promise<Found>>();
  const waiting = new Map<string, Promise<Found>>();
  const readAfter = async (partition: string, before: Promise<Found> | undefined) => {
    // Also with none before, this lets those join who ask at the same moment.
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
