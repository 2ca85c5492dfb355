import type { MonthlyBudget } from '../../access/directory.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { reachedEvent, reachedPercents, type ToldPercent } from './reached.ts';

export interface ToldPercents {
  /** Strongly consistent. */
  of(clientId: number, atMs: number): Promise<ReadonlySet<number>>;
  /** Idempotent. */
  note(clientId: number, atMs: number, percents: readonly ToldPercent[]): Promise<void>;
}

export interface TellReachedPorts {
  readonly told: ToldPercents;
  readonly events: EventSink;
}

/**
 * Emits newly reached percentages, at least once: they are noted after the event is queued. The next send emits what a
 * dead run has not.
 */
export async function tellReached(
  budget: MonthlyBudget,
  { committedUnits, atMs }: { readonly committedUnits: number; readonly atMs: number },
  { told, events }: TellReachedPorts,
): Promise<void> {
  const reached = reachedPercents(budget, committedUnits);
  if (reached.length === 0) return;
  const known = await told.of(budget.clientId, atMs);
  const untold = reached.filter((percent) => !known.has(percent));
  if (untold.length === 0) return;
  await events.send(untold.map((percent) => reachedEvent(budget, { percent, committedUnits, atMs })));
  await told.note(budget.clientId, atMs, untold);
}
