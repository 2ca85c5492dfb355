import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { fetchPublic } from '../lib/http/fetch-network.ts';
import { shippedRates } from '../lib/pricing/rates.ts';
import { ratesStore } from '../lib/pricing/rates-store.ts';
import { type RefreshPorts, refreshRates } from '../lib/pricing/refresh-rates.ts';

const maxFileBytes = 1_000_000;
const fetchMs = 20_000;

/** Called on a schedule: takes the rates of RATE_SOURCE_URL over, if they are good (D32). Throws when they are not. */
export function pricingRefresh(ports: RefreshPorts): () => Promise<void> {
  return async () => {
    await refreshRates(ports);
  };
}

const sourceUrl = environmentVariable('RATE_SOURCE_URL');
export const handler = pricingRefresh({
  fetchFile: async () => {
    const options = { path: 'RATE_SOURCE_URL', maxBytes: maxFileBytes, totalMs: fetchMs };
    return (await fetchPublic(sourceUrl, options)).bytes;
  },
  store: ratesStore(documentClient(), environmentVariable('RATES_TABLE')),
  shipped: shippedRates,
  nowMs: Date.now,
});
