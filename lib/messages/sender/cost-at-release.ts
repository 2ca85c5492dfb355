import type { Directory } from '../../access/directory.ts';
import type { OptOutLook } from '../../opt-outs/opt-out-store.ts';
import { type KnownRates, ratesOfDay, utcDay } from '../../pricing/rates-of-day.ts';
import type { Budgets } from '../budget/budgets.ts';
import { costLimitsOf, overBudget, overMaxCost, stopUnits } from '../budget/cost-limits.ts';
import { sendCost } from '../budget/send-cost.ts';
import type { DispatchHead, Recipient, StoredRecipient } from '../dispatch/head.ts';
import type { DispatchStop } from '../dispatch/item.ts';
import type { StoredDispatch } from '../dispatch/whole-dispatch.ts';

export interface ReleaseCostPorts {
  readonly rates: () => Promise<KnownRates>;
  readonly optOuts: OptOutLook;
  readonly budgets: Pick<Budgets, 'raise'>;
  readonly directory: Pick<Directory, 'findDid'>;
  readonly dispatches: {
    /** Returns at least one recipient, as many as one read returns. */
    recipientsFrom(dispatchId: string, firstIndex: number): Promise<readonly StoredRecipient[]>;
  };
  readonly nowMs: () => number;
}

export interface Released {
  readonly dispatch: StoredDispatch;
  /** The head has the template's category of today. */
  readonly head: DispatchHead;
  /** These recipients have not left. */
  readonly rests: readonly { readonly from: number; readonly until: number }[];
}

/**
 * Judges the cost of a dispatch again if category or prices have changed since its acceptance (D56); what has left
 * counts at the old price. A stopping budget reserves the difference. Returns the stop of the rest, if any.
 */
export async function costStop(
  { dispatch, head, rests }: Released,
  ports: ReleaseCostPorts,
): Promise<Pick<DispatchStop, 'state' | 'code' | 'reason'> | undefined> {
  const { clientId, dispatchId, acceptedAtMs, category, did } = dispatch.head;
  const known = await ports.rates();
  const [then, now] = [acceptedAtMs, ports.nowMs()].map((atMs) => ratesOfDay(utcDay(atMs), known));
  if (then === undefined || now === undefined || (then === now && head.category === category)) return undefined;
  const { left, rest } = await recipientsOf({ dispatch, head, rests }, ports);
  const { optOuts } = ports;
  const costs = await Promise.all([
    sendCost({ head: dispatch.head, recipients: left }, { rates: async () => then, optOuts }),
    sendCost({ head, recipients: rest }, { rates: async () => now, optOuts }),
  ]);
  const units = costs.reduce((sum, cost) => sum + cost.units, 0);
  const tooDear = overMaxCost(units, dispatch.head);
  if (tooDear !== undefined) return { state: 'failed', code: tooDear.code, reason: tooDear.message };
  const found = await ports.directory.findDid(did);
  const { budget } = found === undefined ? {} : costLimitsOf(found, clientId, undefined);
  const limitUnits = budget && stopUnits(budget, head.category);
  const raised = await ports.budgets.raise({ clientId, dispatchId, units, category: head.category, limitUnits });
  if (raised.kind === 'raised' || budget === undefined) return undefined;
  const { code, message } = overBudget(units, raised.committedUnits, budget);
  return { state: 'failed', code, reason: message };
}

/** Returns the recipients of the dispatch by whether they have left, without erased ones (D60). */
async function recipientsOf({ dispatch, rests }: Released, { dispatches }: ReleaseCostPorts) {
  const { dispatchId, total } = dispatch.head;
  const [left, rest]: [Recipient[], Recipient[]] = [[], []];
  for (let index = 0; index < total; ) {
    const page = await dispatches.recipientsFrom(dispatchId, index);
    if (page.length === 0) throw new Error('recipients of the dispatch are gone');
    for (const { to } of page) {
      const isLeft = !rests.some(({ from, until }) => from <= index && index < until);
      if (to !== undefined) (isLeft ? left : rest).push({ to });
      index += 1;
    }
  }
  return { left, rest };
}
