import { present } from '../../keys/present.ts';
import { countryOfNumber } from '../../pricing/country.ts';
import { type CostEstimate, costEstimate } from '../../pricing/estimate.ts';
import type { Rates } from '../../pricing/rates.ts';
import { type CheckPorts, checkSend, type Send } from '../accept/check-send.ts';
import type { JobHead } from '../job.ts';
import type { NumberPaces } from '../pace/number-paces.ts';
import { businessScopedUserId } from '../request/send-request.ts';
import { expectedEndMs } from './expected-end.ts';

export interface RehearsePorts extends CheckPorts {
  readonly rates: () => Promise<Rates>;
  readonly paces: Pick<NumberPaces, 'find'>;
  /** Messages a second that the number of a job may send, by the platform's last word. */
  readonly limitOf: (head: JobHead) => Promise<number>;
}

/** The answer to a rehearsal (D51). */
export interface Rehearsed {
  readonly success: true;
  readonly dry_run: true;
  readonly recipients: number;
  readonly warning?: string;
  readonly estimate: {
    readonly cost: CostEstimate['cost'];
    readonly by_market: CostEstimate['byMarket'];
    readonly seconds: number;
  };
}

/**
 * Checks a send as `acceptSend` would, with the same refusals, and says what it would cost at list prices and how many
 * seconds it would take. Stores nothing of the send, reserves nothing and queues nothing.
 */
export async function rehearseSend(send: Send, ports: RehearsePorts): Promise<Rehearsed> {
  const { job, category, warning } = await checkSend(send, ports);
  const { head, recipients } = job;
  const [rates, limitPerSecond, pace] = await Promise.all([
    ports.rates(),
    ports.limitOf(head),
    ports.paces.find(head.phoneNumberId),
  ]);
  const nowMs = ports.nowMs();
  const endMs = expectedEndMs({ head, recipients, limitPerSecond, pace, nowMs });
  const { cost, byMarket, unpriced } = costEstimate(
    rates,
    category,
    recipients.map(({ to }) => countryOf(to)),
  );
  const warnings = [warning, unpricedWarning(unpriced)].filter((sentence) => sentence !== undefined);
  return {
    success: true,
    dry_run: true,
    recipients: recipients.length,
    ...present({ warning: warnings.length === 0 ? undefined : warnings.join('; ') }),
    estimate: { cost, by_market: byMarket, seconds: Math.ceil((endMs - nowMs) / 1_000) },
  };
}

/** A number says its country by its first digits, a business-scoped user id by its first letters. */
function countryOf(to: string): string | undefined {
  return businessScopedUserId.test(to) ? to.slice(0, 2) : countryOfNumber(to.replace('+', ''));
}

function unpricedWarning(unpriced: number): string | undefined {
  return unpriced === 0
    ? undefined
    : `no list price is known for ${unpriced} of the recipients; the cost is without them`;
}
