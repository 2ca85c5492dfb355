import type { Did, MonthlyBudget } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { present } from '../../keys/present.ts';
import { dollarsOf, unitsOf } from '../../pricing/money.ts';

/** What a send may cost (D58). Of one that neither is said of, nothing is read and nothing is written. */
export interface Means {
  /** The header `Max-Cost`, in units (pricing/money.ts). */
  readonly maxCostUnits?: number;
  /** Of the client for whom is sent. */
  readonly budget?: MonthlyBudget;
}

/** What bounds a send of a client from a DID; `maxCost` is the header, dollars as `MessagesSendHeaders` takes them. */
export function meansOf({ waba }: Pick<Did, 'waba'>, clientId: number, maxCost: string | undefined): Means {
  const budget = waba.monthlyBudgets?.find((each) => each.clientId === clientId);
  return present({ maxCostUnits: maxCost === undefined ? undefined : unitsOf(Number(maxCost)), budget });
}

/** The send would cost more than it may by its own header. */
export function overMaxCost(units: number, { maxCostUnits }: Means): Refusal | undefined {
  if (maxCostUnits === undefined || units <= maxCostUnits) return undefined;
  const message = `the send would cost ${textOf(units)} at list prices, Max-Cost is ${textOf(maxCostUnits)}`;
  return new Refusal('over_max_cost', message, { estimate: estimateOf(units) });
}

/** The amount that a budget stops a send of the category at; undefined where it lets it pass: one-time codes, and where it only warns. */
export function stopUnits({ amount, stop }: MonthlyBudget, category: string): number | undefined {
  return stop && category !== 'AUTHENTICATION' ? unitsOf(amount) : undefined;
}

/** The month of the client would come above its budget with the send. */
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
