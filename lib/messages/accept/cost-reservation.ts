import type { MonthlyBudget } from '../../access/directory.ts';
import { Refusal } from '../../http/refusal.ts';
import { errorName } from '../../observe/error-name.ts';
import { log } from '../../observe/log.ts';
import { unratedWarning } from '../../pricing/estimate.ts';
import type { Budgets, Reservation } from '../budget/budgets.ts';
import { type CostLimits, overBudget, overMaxCost, stopUnits } from '../budget/cost-limits.ts';
import { type NotifyThresholdsPorts, notifyThresholds } from '../budget/notify-thresholds.ts';
import { type SendCostPorts, sendCost } from '../budget/send-cost.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { inTime } from './answer-deadline.ts';

export interface CostLimitPorts extends SendCostPorts, NotifyThresholdsPorts {
  readonly budgets: Pick<Budgets, 'reserve' | 'release'>;
}

type Ports = CostLimitPorts & { readonly remainingMs: () => number };

export interface CostReservation {
  /** Its head has the request's limit. */
  readonly dispatch: WholeDispatch;
  readonly warning: string | undefined;
  /** Releases the reservation of an unsent dispatch, and throws its refusal. */
  readonly refused: (refusal: unknown) => Promise<never>;
  /** Tells the client of thresholds that the reservation has passed. Does not throw. */
  readonly tell: () => Promise<void>;
}

const nothing = {
  refused: async (refusal: unknown) => {
    throw refusal;
  },
  tell: async () => undefined,
};

/**
 * Reserves what a dispatch may cost (D58), before it is stored, so that concurrent sends cannot pass the budget
 * together. Refuses with 422 `over_max_cost` or `over_budget`, 502 `dispatch_unavailable` when a budget that stops
 * cannot be reserved.
 */
export async function reserveCost(given: WholeDispatch, means: CostLimits, ports: Ports): Promise<CostReservation> {
  const { budget, maxCostUnits } = means;
  if (budget === undefined && maxCostUnits === undefined) {
    return { dispatch: given, warning: undefined, ...nothing };
  }
  const dispatch = { ...given, head: { ...given.head, maxCostUnits } };
  const { units } = await sendCost(dispatch, ports);
  const refusal = overMaxCost(units, means);
  if (refusal !== undefined) throw refusal;
  const warning = maxCostUnits === undefined ? undefined : unratedWarning(dispatch.head.category);
  if (budget === undefined) return { dispatch, warning, ...nothing };
  const { clientId, dispatchId, acceptedAtMs: atMs, category } = dispatch.head;
  // What costs nothing passes any budget; it is reserved as well, because a release may raise it (D56).
  const limitUnits = units === 0 ? undefined : stopUnits(budget, category);
  const reservation = { clientId, dispatchId, atMs, units, limitUnits };
  const committedUnits = await reserve(reservation, budget, ports);
  return {
    dispatch,
    warning,
    refused: async (refusal) => {
      // An undecided dispatch may still be sent (idempotency.ts finds it out).
      const isUndecided = refusal instanceof Refusal && refusal.code === 'dispatch_undecided';
      if (!isUndecided) await releaseReservation(reservation, ports);
      throw refusal;
    },
    tell: async () => {
      if (committedUnits !== undefined) await tellReached(reservation, budget, committedUnits, ports);
    },
  };
}

/** Never throws: the month's next send tells what this one could not. */
async function tellReached(
  { clientId, dispatchId, atMs }: Reservation,
  budget: MonthlyBudget,
  committedUnits: number,
  ports: Ports,
): Promise<void> {
  try {
    await inTime(ports.remainingMs, () => notifyThresholds(budget, { committedUnits, atMs }, ports));
  } catch (error) {
    log('budget.not_told', { clientId, dispatchId, error: errorName(error) });
  }
}

/**
 * Returns what the month has committed, this send included, or undefined when the store fails and the budget only
 * warns.
 */
async function reserve(reservation: Reservation, budget: MonthlyBudget, ports: Ports): Promise<number | undefined> {
  const { clientId, dispatchId, units, limitUnits } = reservation;
  try {
    const reserved = await inTime(ports.remainingMs, () => ports.budgets.reserve(reservation));
    if (reserved.kind === 'reserved') return reserved.afterUnits;
    // All further sends may be refused, so this one tells what an earlier one could not.
    await tellReached(reservation, budget, reserved.committedUnits, ports);
    throw overBudget(units, reserved.committedUnits, budget);
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    log('budget.not_reserved', { clientId, dispatchId, error: errorName(cause) });
    // The reservation may be written and only its reply lost.
    await releaseReservation(reservation, ports);
    if (limitUnits === undefined) return undefined;
    throw new Refusal('dispatch_unavailable', 'what the send costs could not be reserved; none of it will be sent', {
      cause,
    });
  }
}

type Given = Pick<Reservation, 'clientId' | 'dispatchId'>;
export type ReleasePorts = { readonly budgets: Pick<Budgets, 'release'> } & Pick<Ports, 'remainingMs'>;

/** Releases what an unsent dispatch has reserved, if anything. If the write fails, the month keeps it (D58). */
export async function releaseReservation(
  { clientId, dispatchId }: Given,
  { budgets, remainingMs }: ReleasePorts,
): Promise<void> {
  try {
    await inTime(remainingMs, () => budgets.release({ clientId, dispatchId }));
  } catch (error) {
    log('budget.not_released', { clientId, dispatchId, error: errorName(error) });
  }
}
