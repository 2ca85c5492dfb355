import { documents, environmentVariable } from '../aws/deployed.ts';
import { ratesStore } from './rates-store.ts';

export function deployedRates() {
  return ratesStore(documents(), environmentVariable('RATES_TABLE'));
}
