import type { MonthlyBudget } from '../../access/directory.ts';
import type { EventSink } from '../../webhooks/event.ts';
import { type BudgetThreshold, reachedThresholds, thresholdEvent } from './thresholds.ts';

export interface NotifiedThresholds {
  /** Reads strongly. */
  of(clientId: number, atMs: number): Promise<ReadonlySet<number>>;
  /** Is idempotent. */
  note(clientId: number, atMs: number, percents: readonly BudgetThreshold[]): Promise<void>;
}

export interface NotifyThresholdsPorts {
  readonly notified: NotifiedThresholds;
  readonly events: EventSink;
}

/**
 * Notifies at least once: a threshold is noted after its event is queued, so the next send repeats what a dead run has
 * not noted.
 */
export async function notifyThresholds(
  budget: MonthlyBudget,
  { committedUnits, atMs }: { readonly committedUnits: number; readonly atMs: number },
  { notified, events }: NotifyThresholdsPorts,
): Promise<void> {
  const reached = reachedThresholds(budget, committedUnits);
  if (reached.length === 0) return;
  const known = await notified.of(budget.clientId, atMs);
  const unnotified = reached.filter((percent) => !known.has(percent));
  if (unnotified.length === 0) return;
  await events.send(unnotified.map((percent) => thresholdEvent(budget, { percent, committedUnits, atMs })));
  await notified.note(budget.clientId, atMs, unnotified);
}
