import type { InboxRow, Told } from './model.ts';

const ranks: Readonly<Record<string, number>> = { accepted: 0, sent: 1, delivered: 2, read: 3, failed: 4 };

/** How far a message has come: the furthest of what was told of it until then. */
export function statusAt({ told }: Pick<InboxRow, 'told'>, nowMs: number): Told {
  const first: Told = { status: 'accepted', at_ms: 0 };
  return told
    .filter(({ at_ms }) => at_ms <= nowMs)
    .reduce((best, each) => ((ranks[each.status] ?? 0) > (ranks[best.status] ?? 0) ? each : best), first);
}
