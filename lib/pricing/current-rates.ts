import { log } from '../observe/log.ts';
import { nameOf } from '../observe/name-of.ts';
import { laterRates, type Rates } from './rates.ts';

const keepForMs = 24 * 60 * 60 * 1_000;
/** After a failed reading, so that a store that is down is not asked with every request. */
const tryAgainAfterMs = 60_000;

/**
 * The rates in force: the stored ones unless the shipped ones are later, read once in 24 hours (contract, Limits). A store
 * that cannot be read is no reason to fail: the rates read last stay, or the shipped ones, and it is asked again a minute later.
 */
export function currentRates(
  findStored: () => Promise<Rates | undefined>,
  shipped: Rates,
  nowMs: () => number,
): () => Promise<Rates> {
  let rates = shipped;
  let readAgainAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (nowMs() < readAgainAtMs) return rates;
    try {
      rates = laterRates(shipped, await findStored());
      readAgainAtMs = nowMs() + keepForMs;
    } catch (error) {
      log('pricing.rates_not_read', { error: nameOf(error) });
      readAgainAtMs = nowMs() + tryAgainAfterMs;
    }
    return rates;
  };
}
