import { deployed, environmentVariable } from '../lib/aws/deployed.ts';
import { fetchPublic } from '../lib/http/fetch-network.ts';
import { deployedRates } from '../lib/pricing/deployed.ts';
import { shippedRates } from '../lib/pricing/rates.ts';
import { type RefreshPorts, refreshRates } from '../lib/pricing/refresh-rates.ts';

const maxFileBytes = 1_000_000;
const fetchMs = 20_000;

/** Runs on a schedule: takes over the rates of RATE_SOURCE_URL if they are valid (D32), else throws. */
export function pricingRefresh(ports: RefreshPorts): () => Promise<void> {
  return async () => {
    await refreshRates(ports);
  };
}

export const handler = deployed(() => {
  const sourceUrl = environmentVariable('RATE_SOURCE_URL');
  const options = { path: 'RATE_SOURCE_URL', maxBytes: maxFileBytes, totalMs: fetchMs };
  const fetchFile = async () => (await fetchPublic(sourceUrl, options)).bytes;
  return pricingRefresh({ fetchFile, store: deployedRates(), shipped: shippedRates, nowMs: Date.now });
});
