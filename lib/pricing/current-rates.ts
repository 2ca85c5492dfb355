import { errorName } from '../observe/error-name.ts';
import { log } from '../observe/log.ts';
import type { Rates } from './rates.ts';
import { type KnownRates, ratesOfDay, utcDay } from './rates-of-day.ts';

const keepForMs = 24 * 60 * 60 * 1_000;
/** A store that is down is not asked at every request. */
const tryAgainAfterMs = 60_000;

/**
 * Reads the shipped and stored rates, future ones included, once in 24 hours (contract, Limits). After a failed read
 * the last known ones stay, and a retry follows a minute later.
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
      log('pricing.rates_not_read', { error: errorName(error) });
      readAgainAtMs = nowMs() + tryAgainAfterMs;
    }
    return known;
  };
}

export function currentRates(
  findStored: () => Promise<readonly Rates[]>,
  shipped: Rates,
  nowMs: () => number,
): () => Promise<Rates> {
  const known = knownRates(findStored, shipped, nowMs);
  return async () => ratesOfDay(utcDay(nowMs()), await known());
}
