import type { MonthlyBudget } from '../../access/directory.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { reachedEvent, reachedPercents, type ToldPercent } from './reached.ts';

/** Which percents of a month a client was told of. Throws when the store cannot be reached. */
export interface ToldPercents {
  /** Strongly consistent. */
  of(clientId: number, atMs: number): Promise<ReadonlySet<number>>;
  /** Repeating is harmless. */
  note(clientId: number, atMs: number, percents: readonly ToldPercent[]): Promise<void>;
}

export interface TellReachedPorts {
  readonly told: ToldPercents;
  readonly events: EventSink;
}

/**
 * Tells what the month has reached of a budget and was not told yet: at least once, for it is noted after it is queued. What a run
 * that died has not told is still above its percent, and so the next send of the month tells it; told twice, it has one id. Below
 * the first percent nothing is read.
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
