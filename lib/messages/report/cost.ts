import { type Charge, chargeOf } from '../../pricing/charge.ts';
import { otherMarket } from '../../pricing/country.ts';
import { type KnownRates, utcDay } from '../../pricing/rates-of-day.ts';
import { undeliveredMarket } from '../../pricing/undelivered.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { forgottenAtMs } from '../dispatch/items.ts';
import type { Proven } from '../receipts/fold-receipts.ts';
import type { ReportedOutcome, ReportedState } from '../receipts/reported-state.ts';
import { marketOfAddress } from '../request/recipient-address.ts';
import type { DescribedDispatch } from './described-dispatch.ts';

/** A dispatch's messages were delivered on one UTC day in one market and category. */
export interface CostLine {
  /** The form is `YYYY-MM-DD`. */
  readonly day: string;
  /** The market is ISO 3166-1 alpha-2, `XK`, or `Other` for recipients of no country (D32). */
  readonly market: string;
  readonly category: Charge['category'];
  readonly messages: number;
  readonly billed: number;
  /** The billed messages have this list price (pricing/money.ts). */
  readonly units: number;
}

/** A dispatch has cost this so far (D58). */
export interface Cost {
  readonly units: number;
  /** `platform` means that the platform has told the pricing of every delivered message, in a category with a rate. */
  readonly basis: 'platform' | 'list';
  /** No message can still be billed. */
  readonly final: boolean;
}

export interface DispatchCost {
  readonly cost: Cost;
  readonly lines: readonly CostLine[];
  /** Messages that may still be billed have this list price. */
  readonly openUnits: number;
}

/** A message has its reported outcome, its receipts' proof, and its recipient's market. */
export interface KnownMessage {
  readonly outcome: Pick<ReportedOutcome, 'state' | 'atMs'>;
  readonly proven: Proven | undefined;
  readonly market: string;
}

/** Returns the head with the category of the latest release that has raised the dispatch's reservation (D56). */
export function releasedHead({ head, reserved }: Pick<DescribedDispatch, 'head' | 'reserved'>): DispatchHead {
  return { ...head, category: reserved?.category ?? head.category };
}

/** Returns the market of a dispatch's recipient; an erased one has left it (D60). */
export function marketAt(
  { recipients, erasedMarkets }: Pick<DescribedDispatch, 'recipients' | 'erasedMarkets'>,
  index: number,
): string {
  const to = recipients.get(index);
  return to === undefined ? (erasedMarkets?.get(index) ?? otherMarket) : marketOfAddress(to);
}

/**
 * Returns the cost of a dispatch's messages (D58): of proven deliveries, or of taken messages where no receipts are
 * expected. The platform's clock decides the day, within the dispatch's lifetime.
 */
export function costOf(head: DispatchHead, messages: Iterable<KnownMessage>, rates: KnownRates): DispatchCost {
  const lines = new Map<string, CostLine>();
  let [openUnits, open, delivered, unpriced] = [0, 0, 0, 0];
  for (const message of messages) {
    const atMs = deliveryOf(head, message);
    if (atMs === undefined) {
      if (!mayStillBeBilled(message.outcome.state)) continue;
      open += 1;
      openUnits += estimateOf(head, message.market, rates);
      continue;
    }
    const { pricing } = message.proven ?? {};
    const { market } = message;
    const day = utcDay(Math.min(Math.max(atMs, head.acceptedAtMs), forgottenAtMs(head)));
    const charge = chargeOf({ day, market, templateCategory: head.category, pricing }, rates);
    const { billed, category, units } = charge;
    delivered += 1;
    if (!charge.isPriced) unpriced += 1;
    const key = `${day} ${market} ${category}`;
    const line = lines.get(key) ?? { day, market, category, messages: 0, billed: 0, units: 0 };
    lines.set(key, {
      ...line,
      messages: line.messages + 1,
      billed: line.billed + Number(billed),
      units: line.units + units,
    });
  }
  const inOrder = [...lines].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line);
  const units = inOrder.reduce((sum, line) => sum + line.units, 0);
  const isPriced = unpriced === 0 && (delivered > 0 || head.receiptsExpected === true);
  return { cost: { units, basis: isPriced ? 'platform' : 'list', final: open === 0 }, lines: inOrder, openUnits };
}

/** Returns the billed delivery time, or undefined if not billed so far. */
function deliveryOf({ receiptsExpected, acceptedAtMs }: DispatchHead, { outcome, proven }: KnownMessage) {
  if (proven?.deliveredAtMs !== undefined) return proven.deliveredAtMs;
  return receiptsExpected !== true && outcome.state === 'sent' ? (outcome.atMs ?? acceptedAtMs) : undefined;
}

/** A delivery of `sent` may still be reported; the platform may have `held` and `unknown`. */
const stillOpen: ReadonlySet<ReportedState> = new Set(['pending', 'held', 'sent', 'unknown']);

function mayStillBeBilled(state: ReportedState): boolean {
  return stillOpen.has(state);
}

/** Returns zero where the platform delivers nothing of the category. */
function estimateOf({ category, acceptedAtMs }: DispatchHead, market: string, rates: KnownRates): number {
  if (undeliveredMarket(category, { digits: undefined, country: market }) !== undefined) return 0;
  return chargeOf({ day: utcDay(acceptedAtMs), market, templateCategory: category }, rates).units;
}
