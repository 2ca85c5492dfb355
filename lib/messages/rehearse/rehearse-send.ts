import * as v from 'valibot';
import { type Refusal, refusalCodes } from '../../http/refusal.ts';
import { canonicalNumber } from '../../opt-outs/canonical-number.ts';
import { unratedWarning } from '../../pricing/estimate.ts';
import { type CheckPorts, checkSend, type Send } from '../accept/check-send.ts';
import type { Budgets } from '../budget/budgets.ts';
import { type CostLimits, overBudget, overMaxCost, stopUnits } from '../budget/cost-limits.ts';
import { type SendCostPorts, sendCost } from '../budget/send-cost.ts';
import type { DispatchHead } from '../dispatch/head.ts';
import { bulkEveryMs } from '../pace/known-pace.ts';
import type { KnownPaces } from '../pace/known-pace-store.ts';
import type { Timetable } from '../when/timetable.ts';
import { type Expected, expectedEndMs } from './expected-end.ts';
import { type ExpectedTimes, expectedTimes } from './expected-times.ts';
import { type Portfolio, type PortfolioPorts, portfolioOf } from './portfolio.ts';
import type { WaitingDispatches } from './waiting-dispatches.ts';

export interface RehearsePorts extends CheckPorts, SendCostPorts, Omit<PortfolioPorts, 'directory'> {
  readonly directory: CheckPorts['directory'] & PortfolioPorts['directory'];
  readonly budgets: Pick<Budgets, 'committedUnits'>;
  readonly paces: Pick<KnownPaces, 'find'>;
  readonly waiting: WaitingDispatches;
  /** Reads the messages a second that the number may send, without a cache, as a sender (D43). */
  readonly currentLimitOf: (head: DispatchHead) => Promise<number>;
}

const people = v.pipe(v.number(), v.integer());
const amount = v.pipe(v.number(), v.description('At list prices.'));

export const RehearsalAnswer = v.object({
  success: v.literal(true),
  dry_run: v.literal(true),
  recipients: v.pipe(v.number(), v.integer(), v.description('Of the send, without repeated ones.')),
  warning: v.optional(v.string()),
  would_refuse: v.optional(
    v.pipe(
      v.object({ code: v.picklist(refusalCodes), message: v.string() }),
      v.description('The send would be refused with that now, for what it costs (D58).'),
    ),
  ),
  estimate: v.object({
    cost: v.object({ amount, currency: v.string() }),
    by_market: v.array(v.object({ market: v.string(), recipients: people, amount })),
    opted_out: v.optional(people),
    not_delivered: v.optional(v.array(v.object({ market: v.string(), recipients: people }))),
    seconds: v.pipe(v.number(), v.integer(), v.description('Until the last one has left, at the pace of the number.')),
    schedule: v.optional(
      v.pipe(
        v.array(
          v.object({
            zones: v.optional(v.pipe(v.array(v.string()), v.description('Whose clocks count, all of them.'))),
            recipients: people,
            first: v.optional(
              v.pipe(v.string(), v.isoTimestamp(), v.description('Absent where it is never within the time to live.')),
            ),
            last: v.optional(v.pipe(v.string(), v.isoTimestamp(), v.description('When the last one has left, about.'))),
          }),
        ),
        v.description('Of a send with a time of its own: when it leaves, by the time zones of its recipients.'),
      ),
    ),
    portfolio: v.optional(
      v.object({
        people_a_day: v.pipe(
          v.number(),
          v.integer(),
          v.description('People that all numbers of the portfolio together may write to in 24 hours.'),
        ),
        so_far: v.pipe(
          v.number(),
          v.integer(),
          v.description('At most so many of them are recipients of what this client sent in the last 24 hours.'),
        ),
      }),
    ),
  }),
});
export type Rehearsed = v.InferOutput<typeof RehearsalAnswer>;

/**
 * Checks a send as `acceptSend` does, with the same refusals. Returns cost at list prices, duration, and the
 * portfolio's limit if known. Stores, reserves and queues nothing.
 */
export async function rehearseSend(
  send: Send & { readonly means: CostLimits },
  ports: RehearsePorts,
): Promise<Rehearsed> {
  const { dispatch, warning, timetable } = await checkSend(send, ports);
  const { head, recipients } = dispatch;
  const [costs, limitPerSecond, pace, waiting, portfolio] = await Promise.all([
    sendCost(dispatch, ports),
    ports.currentLimitOf(head),
    ports.paces.find(head.phoneNumberId),
    ports.waiting.of(head.phoneNumberId),
    portfolioOf(send, ports),
  ]);
  const { written, optedOut, estimate, units } = costs;
  const refusal = await wouldRefuse(head, units, { means: send.means, budgets: ports.budgets });
  const nowMs = ports.nowMs();
  // Opted-out recipients are found after the claim, so they keep their turns. If all have opted out, nothing leaves.
  const expected: Expected = { head, recipients, limitPerSecond, pace, waiting, nowMs };
  const times = timetable === undefined ? undefined : timesOf(expected, timetable);
  const lastMs = times === undefined ? expectedEndMs(expected) : Math.max(...times.map((each) => each.lastMs ?? nowMs));
  const endMs = written.length === 0 ? nowMs : lastMs;
  const { cost, byMarket, notDelivered } = estimate;
  const warnings = [
    warning,
    unratedWarning(head.category),
    portfolio === undefined
      ? undefined
      : portfolioWarning(portfolio, new Set(written.map(({ to }) => canonicalNumber(to))).size),
  ].filter((sentence) => sentence !== undefined);
  return {
    success: true,
    dry_run: true,
    recipients: recipients.length,
    warning: warnings.length === 0 ? undefined : warnings.join('; '),
    would_refuse: refusal && { code: refusal.code, message: refusal.message },
    estimate: {
      cost,
      by_market: [...byMarket],
      ...(optedOut === 0 ? {} : { opted_out: optedOut }),
      ...(notDelivered.length === 0 ? {} : { not_delivered: [...notDelivered] }),
      seconds: Math.ceil((endMs - nowMs) / 1_000),
      schedule: times?.map(shownTimes),
      ...(portfolio === undefined
        ? {}
        : { portfolio: { people_a_day: portfolio.peopleADay, so_far: portfolio.soFar } }),
    },
  };
}

/** Messages that are due now may still occupy the number when the first lot opens. */
function timesOf(expected: Expected, timetable: Timetable): ExpectedTimes[] {
  const { recipients, limitPerSecond, pace, nowMs } = expected;
  const atOnceMs = (recipients.length - 1) * bulkEveryMs(limitPerSecond, pace, nowMs);
  const delayMs = Math.max(0, expectedEndMs(expected) - nowMs - atOnceMs);
  return expectedTimes(timetable, { nowMs, delayMs, everyMs: bulkEveryMs(limitPerSecond, pace, timetable.fromMs) });
}

function shownTimes({ zones, recipients, firstMs, lastMs }: ExpectedTimes) {
  const [first, last] = [firstMs, lastMs].map((ms) =>
    ms === undefined ? undefined : new Date(Math.ceil(ms)).toISOString(),
  );
  return { zones: zones.length === 0 ? undefined : [...zones], first, last, recipients };
}

/** Returns the refusal for cost, if any. Reads the client's month only if its budget stops the send. */
async function wouldRefuse(
  { clientId, category, acceptedAtMs }: DispatchHead,
  units: number,
  { means, budgets }: { readonly means: CostLimits } & Pick<RehearsePorts, 'budgets'>,
): Promise<Refusal | undefined> {
  const tooDear = overMaxCost(units, means);
  if (tooDear !== undefined || means.budget === undefined) return tooDear;
  const limitUnits = stopUnits(means.budget, category);
  if (limitUnits === undefined || units === 0) return undefined;
  const committedUnits = await budgets.committedUnits(clientId, acceptedAtMs);
  return committedUnits + units > limitUnits ? overBudget(units, committedUnits, means.budget) : undefined;
}

function portfolioWarning({ peopleADay, soFar }: Portfolio, written: number): string | undefined {
  if (written + soFar <= peopleADay) return undefined;
  const [may, did] = [peopleADay, soFar].map((people) => people.toLocaleString('en-US'));
  return `this portfolio may write to ${may} people a day; ${did} so far, as far as is known here`;
}
