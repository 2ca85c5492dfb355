import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { costEstimate } from '../../pricing/estimate.ts';
import type { Rates } from '../../pricing/rates.ts';
import { type CheckPorts, checkSend, type Send } from '../accept/check-send.ts';
import type { JobHead } from '../job.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { destinationOf } from '../request/addressee.ts';
import { expectedEndMs } from './expected-end.ts';
import { type Portfolio, type PortfolioPorts, portfolioOf } from './portfolio.ts';

export interface RehearsePorts extends CheckPorts, Omit<PortfolioPorts, 'directory'> {
  readonly directory: CheckPorts['directory'] & PortfolioPorts['directory'];
  readonly rates: () => Promise<Rates>;
  readonly paces: Pick<NumberPaces, 'find'>;
  /** Messages a second that the number of a job may send, read anew as each round of a job does (D43). */
  readonly currentLimitOf: (head: JobHead) => Promise<number>;
}

const people = v.pipe(v.number(), v.integer());
const amount = v.pipe(v.number(), v.description('At list prices.'));

/** The answer to a rehearsal (D51). */
export const RehearsalAnswer = v.object({
  success: v.literal(true),
  dry_run: v.literal(true),
  recipients: v.pipe(v.number(), v.integer(), v.description('Those that would be sent to: without repeated ones.')),
  warning: v.exactOptional(v.string()),
  estimate: v.object({
    cost: v.object({ amount, currency: v.string() }),
    by_market: v.array(v.object({ market: v.string(), recipients: people, amount })),
    not_delivered: v.exactOptional(v.array(v.object({ market: v.string(), recipients: people }))),
    seconds: v.pipe(v.number(), v.integer(), v.description('Until the last one has left, at the pace of the number.')),
    portfolio: v.exactOptional(
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
 * Checks a send as `acceptSend` would, with the same refusals, and says what it would cost at list prices, how many
 * seconds it would take, and what is known of the portfolio's limit. Stores nothing of the send, reserves nothing and queues
 * nothing.
 */
export async function rehearseSend(send: Send, ports: RehearsePorts): Promise<Rehearsed> {
  const { job, warning } = await checkSend(send, ports);
  const { head, recipients } = job;
  const [rates, limitPerSecond, pace, portfolio] = await Promise.all([
    ports.rates(),
    ports.currentLimitOf(head),
    ports.paces.find(head.phoneNumberId),
    portfolioOf(send, ports),
  ]);
  const nowMs = ports.nowMs();
  const endMs = expectedEndMs({ head, recipients, limitPerSecond, pace, nowMs });
  const { cost, byMarket, notDelivered, unpriced } = costEstimate(
    rates,
    job.head.category,
    recipients.map(({ to }) => destinationOf(to)),
  );
  const warnings = [
    warning,
    unpricedWarning(unpriced),
    portfolio === undefined ? undefined : portfolioWarning(portfolio, recipients.length),
  ].filter((sentence) => sentence !== undefined);
  return {
    success: true,
    dry_run: true,
    recipients: recipients.length,
    ...present({ warning: warnings.length === 0 ? undefined : warnings.join('; ') }),
    estimate: {
      cost,
      by_market: [...byMarket],
      ...(notDelivered.length === 0 ? {} : { not_delivered: [...notDelivered] }),
      seconds: Math.ceil((endMs - nowMs) / 1_000),
      ...(portfolio === undefined
        ? {}
        : { portfolio: { people_a_day: portfolio.peopleADay, so_far: portfolio.soFar } }),
    },
  };
}

function unpricedWarning(unpriced: number): string | undefined {
  return unpriced === 0
    ? undefined
    : `no list price is known for ${unpriced} of the recipients; the cost is without them`;
}

function portfolioWarning({ peopleADay, soFar }: Portfolio, recipients: number): string | undefined {
  if (recipients + soFar <= peopleADay) return undefined;
  const [may, did] = [peopleADay, soFar].map((people) => people.toLocaleString('en-US'));
  return `this portfolio may write to ${may} people a day; ${did} so far, as far as is known here`;
}
