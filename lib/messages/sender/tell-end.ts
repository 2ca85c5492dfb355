import { type DispatchProgress, tellCompleted, type WatchPorts } from '../watch/watch.ts';

/**
 * Tells the end of a dispatch (D41) and counts its cost (D58), unless it is forgotten. Returns false while messages are
 * pending.
 */
export async function tellEnd(
  dispatchId: string,
  ports: Pick<WatchPorts, 'events' | 'spend' | 'nowMs' | 'log'> & {
    /** Returns undefined for a missing dispatch. */
    readonly progressOf: (dispatchId: string) => Promise<DispatchProgress | undefined>;
  },
): Promise<boolean> {
  const progress = await ports.progressOf(dispatchId);
  if (progress === undefined) return true;
  const { head, counts } = progress;
  if (counts === undefined) return false;
  await tellCompleted(head, counts, ports);
  return true;
}
