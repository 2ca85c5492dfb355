import type { Did, MonthlyBudget } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { dollarsOf, unitsOf } from '../../pricing/money.ts';

/** A send without limits reads and writes nothing (D58). */
export interface CostLimits {
  /** The header `Max-Cost` is in units here (pricing/money.ts). */
  readonly maxCostUnits?: number;
  readonly budget?: MonthlyBudget;
}

/** Returns the limits for a client's send from a DID. `maxCost` is the header, in dollars (`MessagesSendHeaders`). */
export function costLimitsOf({ waba }: Pick<Did, 'waba'>, clientId: number, maxCost: string | undefined): CostLimits {
  const budget = waba.monthlyBudgets?.find((each) => each.clientId === clientId);
  return { maxCostUnits: maxCost === undefined ? undefined : unitsOf(Number(maxCost)), budget };
}

export function overMaxCost(units: number, { maxCostUnits }: CostLimits): Refusal | undefined {
  if (maxCostUnits === undefined || units <= maxCostUnits) return undefined;
  const message = `the send would cost ${textOf(units)} at list prices, Max-Cost is ${textOf(maxCostUnits)}`;
  return new Refusal('over_max_cost', message, { estimate: estimateOf(units) });
}

/**
 * Returns the amount at which the budget stops a send, or undefined for one-time codes and for a budget that only
 * warns.
 */
export function stopUnits({ amount, stop }: MonthlyBudget, category: string): number | undefined {
  return stop && category !== 'AUTHENTICATION' ? unitsOf(amount) : undefined;
}

export function overBudget(units: number, committedUnits: number, { amount }: MonthlyBudget): Refusal {
  const [cost, budget, committed] = [textOf(units), textOf(unitsOf(amount)), textOf(committedUnits)];
  const message = `the send would cost ${cost} at list prices; of the monthly budget of ${budget}, ${committed} are spent or reserved`;
  return new Refusal('over_budget', message, { estimate: estimateOf(units) });
}

function estimateOf(units: number) {
  return { amount: dollarsOf(units), currency: 'USD' };
}

function textOf(units: number): string {
  const [whole, decimals = ''] = dollarsOf(units).toFixed(8).split('.');
  return `${whole}.${decimals.replace(/0+$/, '').padEnd(2, '0')} USD`;
}
