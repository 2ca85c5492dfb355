import type { OptOutLook } from '../../opt-outs/opt-out-store.ts';
import { type CostEstimate, costEstimate } from '../../pricing/estimate.ts';
import { unitsOf } from '../../pricing/money.ts';
import type { Rates } from '../../pricing/rates.ts';
import type { DispatchHead, Recipient } from '../dispatch/head.ts';
import type { WholeDispatch } from '../dispatch/whole-dispatch.ts';
import { canonicalAddress, destinationOf } from '../request/recipient-address.ts';

export interface SendCostPorts {
  readonly rates: () => Promise<Rates>;
  readonly optOuts: OptOutLook;
}

/** A send would cost this at list prices if all of it left now (D58). */
export interface SendCost {
  /** A worker would call these: they have not opted out, and their hours lie within the dispatch's life (D56). */
  readonly written: readonly Recipient[];
  /** Only recipients with hours count. */
  readonly optedOut: number;
  readonly estimate: CostEstimate;
  /** The same cost, in units (pricing/money.ts). */
  readonly units: number;
}

/** Reads opt-outs, if the category heeds them, and the rates in force. */
export async function sendCost(
  { head, ...send }: Pick<WholeDispatch, 'head' | 'recipients' | 'lots'>,
  { rates, optOuts }: SendCostPorts,
): Promise<SendCost> {
  const called = calledAtAll(send);
  const [inForce, written] = await Promise.all([rates(), withoutOptedOut(head, called, optOuts)]);
  const { category } = head;
  const destinations = written.map(({ to }) => destinationOf(to));
  const estimate = costEstimate(inForce, category, destinations);
  const units = unitsOf(estimate.cost.amount);
  return { written, optedOut: called.length - written.length, estimate, units };
}

/** Lots that never open come last (when/timetable.ts). */
function calledAtAll({ recipients, lots = [] }: Pick<WholeDispatch, 'recipients' | 'lots'>): readonly Recipient[] {
  const firstNever = lots.findIndex(({ open }) => open.length === 0);
  return firstNever < 0 ? recipients : recipients.slice(0, lots[firstNever - 1]?.until ?? 0);
}

/** Returns recipients who have not opted out (D55). Reads nothing if the category heeds no opt-outs. */
export async function withoutOptedOut(
  head: Pick<DispatchHead, 'clientId' | 'wabaId' | 'phoneNumberId' | 'heedsOptOuts'>,
  recipients: readonly Recipient[],
  optOuts: OptOutLook,
): Promise<readonly Recipient[]> {
  const { clientId, wabaId, phoneNumberId, heedsOptOuts } = head;
  const sender = { clientId, wabaId, phoneNumberId };
  if (heedsOptOuts === undefined || !(await optOuts.anyFor(sender))) return recipients;
  const stopped = await optOuts.stoppedAmong(sender, [...new Set(recipients.map(({ to }) => canonicalAddress(to)))]);
  return recipients.filter(({ to }) => !stopped.has(canonicalAddress(to)));
}
