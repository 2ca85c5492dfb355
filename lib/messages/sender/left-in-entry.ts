import type { BacklogEntry } from '../dispatch/backlog.ts';
import { sliceSize, slicesIn } from '../dispatch/slice.ts';

/**
 * Returns about how many recipients of a dispatch are left, by its entry: a floor is some seconds old, and parts share
 * the slices evenly.
 */
export function recipientsLeft(
  { parts = [] }: Pick<BacklogEntry, 'parts'>,
  { total }: { readonly total: number },
): number {
  if (parts.length === 0) return total;
  const slices = slicesIn({ total });
  let left = 0;
  for (const { floor } of parts) left += Math.max(0, slices - floor);
  return Math.min(total, Math.ceil((sliceSize * left) / parts.length));
}
