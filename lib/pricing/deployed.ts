import { documents, environmentVariable } from '../aws/deployed.ts';
import { knownRates } from './current-rates.ts';
import { shippedRates } from './rates.ts';
import { ratesStore } from './rates-store.ts';

export function deployedRates() {
  return ratesStore(documents(), environmentVariable('RATES_TABLE'));
}

/** Returns the rates by day (D58): those in the bundle, and those read since. */
export function deployedKnownRates() {
  return knownRates(deployedRates().find, shippedRates, Date.now);
}
