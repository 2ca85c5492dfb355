import type { InboxRow, StatusView } from './model.ts';

const ranks: Readonly<Record<string, number>> = { accepted: 0, held: 0, sent: 1, delivered: 2, read: 3, failed: 4 };

/** Returns the furthest status told by that time; a refused send stays refused. */
export function statusAt(row: Pick<InboxRow, 'told' | 'refusal' | 'held_until_ms'>, nowMs: number): StatusView {
  const { told, refusal, held_until_ms: heldUntilMs } = row;
  if (refusal !== undefined) {
    return { status: 'refused', at_ms: 0, ...(refusal.code === null ? {} : { code: refusal.code }) };
  }
  const isHeld = heldUntilMs !== undefined && (heldUntilMs === null || nowMs < heldUntilMs);
  let best: StatusView = { status: isHeld ? 'held' : 'accepted', at_ms: 0 };
  // A search calls this for every row, so it allocates nothing.
  for (const each of told) {
    if (each.at_ms <= nowMs && (ranks[each.status] ?? 0) > (ranks[best.status] ?? 0)) best = each;
  }
  return best;
}
