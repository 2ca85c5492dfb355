import { log } from '../observe/log.ts';
import { nameOf } from '../observe/name-of.ts';
import type { Rates } from './rates.ts';
import { type KnownRates, ratesOfDay, utcDay } from './rates-of-day.ts';

const keepForMs = 24 * 60 * 60 * 1_000;
/** After a failed reading, so that a store that is down is not asked with every request. */
const tryAgainAfterMs = 60_000;

/**
 * The shipped rates and the stored ones, read once in 24 hours (contract, Limits): those to come are among them, so that a change
 * of rates needs no reading. A store that cannot be read is no reason to fail: what was read last stays, or the shipped rates
 * alone, and it is asked again a minute later.
 */
export function knownRates(
  findStored: () => Promise<readonly Rates[]>,
  shipped: Rates,
  nowMs: () => number,
): () => Promise<KnownRates> {
  let known: KnownRates = [shipped];
  let readAgainAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() < readAgainAtMs) return known;
    try {
      known = [shipped, ...(await findStored())];
      readAgainAtMs = nowMs() + keepForMs;
    } catch (error) {
      log('pricing.rates_not_read', { error: nameOf(error) });
      readAgainAtMs = nowMs() + tryAgainAfterMs;
    }
    return known;
  };
}

/** Of them those that are in force today (UTC). */
export function currentRates(
  findStored: () => Promise<readonly Rates[]>,
  shipped: Rates,
  nowMs: () => number,
): () => Promise<Rates> {
  const known = knownRates(findStored, shipped, nowMs);
  return async () => ratesOfDay(utcDay(nowMs()), await known());
}
