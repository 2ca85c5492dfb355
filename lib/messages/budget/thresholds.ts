import type { MonthlyBudget } from '../../access/directory.ts';
import { dollarsOf, unitsOf } from '../../pricing/money.ts';
import { eventId, type ServiceEvent } from '../../webhooks/event.ts';
import { monthOf } from './budgets.ts';

/** Spent and reserved money reaches these percentages of a budget (D58). */
const budgetThresholds = [80, 100] as const;
export type BudgetThreshold = (typeof budgetThresholds)[number];

export function reachedThresholds({ amount }: MonthlyBudget, committedUnits: number): BudgetThreshold[] {
  return budgetThresholds.filter((percent) => committedUnits >= unitsOf((amount * percent) / 100));
}

/** Returns an event with one id per client, month and percentage, whichever send reached it. */
export function thresholdEvent(
  { clientId, amount, stop }: MonthlyBudget,
  reached: { readonly percent: BudgetThreshold; readonly committedUnits: number; readonly atMs: number },
): ServiceEvent {
  const { percent, committedUnits, atMs } = reached;
  const [month, currency, type] = [monthOf(atMs), 'USD', 'budget.reached'] as const;
  const data = {
    ...{ month, percent, stop },
    budget: { amount, currency },
    committed: { amount: dollarsOf(committedUnits), currency },
  } as const;
  return { id: eventId(type, clientId, [month, percent]), clientId, type, timestampMs: atMs, data };
}
