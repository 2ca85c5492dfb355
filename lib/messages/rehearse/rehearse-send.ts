import * as v from 'valibot';
import { present } from '../../keys/present.ts';
import { costEstimate } from '../../pricing/estimate.ts';
import type { Rates } from '../../pricing/rates.ts';
import { type CheckPorts, checkSend, type Send } from '../accept/check-send.ts';
import type { JobHead } from '../job.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { countryOf } from '../request/addressee.ts';
import { expectedEndMs } from './expected-end.ts';

export interface RehearsePorts extends CheckPorts {
  readonly rates: () => Promise<Rates>;
  readonly paces: Pick<NumberPaces, 'find'>;
  /** Messages a second that the number of a job may send, read anew as each round of a job does (D43). */
  readonly currentLimitOf: (head: JobHead) => Promise<number>;
}

const recipients = v.pipe(v.number(), v.integer());
const amount = v.pipe(v.number(), v.description('At list prices.'));

/** The answer to a rehearsal (D51). */
export const RehearsalAnswer = v.object({
  success: v.literal(true),
  dry_run: v.literal(true),
  recipients: v.pipe(v.number(), v.integer(), v.description('Those that would be sent to: without repeated ones.')),
  warning: v.exactOptional(v.string()),
  estimate: v.object({
    cost: v.object({ amount, currency: v.string() }),
    by_market: v.array(v.object({ market: v.string(), recipients, amount })),
    not_delivered: v.exactOptional(v.array(v.object({ market: v.string(), recipients }))),
    seconds: v.pipe(v.number(), v.integer(), v.description('Until the last one has left, at the pace of the number.')),
  }),
});
export type Rehearsed = v.InferOutput<typeof RehearsalAnswer>;

/**
 * Checks a send as `acceptSend` would, with the same refusals, and says what it would cost at list prices and how many
 * seconds it would take. Stores nothing of the send, reserves nothing and queues nothing.
 */
export async function rehearseSend(send: Send, ports: RehearsePorts): Promise<Rehearsed> {
  const { job, warning } = await checkSend(send, ports);
  const { head, recipients } = job;
  const [rates, limitPerSecond, pace] = await Promise.all([
    ports.rates(),
    ports.currentLimitOf(head),
    ports.paces.find(head.phoneNumberId),
  ]);
  const nowMs = ports.nowMs();
  const endMs = expectedEndMs({ head, recipients, limitPerSecond, pace, nowMs });
  const { cost, byMarket, notDelivered, unpriced } = costEstimate(
    rates,
    job.head.category,
    recipients.map(({ to }) => countryOf(to)),
  );
  const warnings = [warning, unpricedWarning(unpriced)].filter((sentence) => sentence !== undefined);
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
    },
  };
}

function unpricedWarning(unpriced: number): string | undefined {
  return unpriced === 0
    ? undefined
    : `no list price is known for ${unpriced} of the recipients; the cost is without them`;
}
