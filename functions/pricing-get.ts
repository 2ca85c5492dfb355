import * as v from 'valibot';
import { clientEndpoint } from '../lib/access/client-endpoint.ts';
import { documentClient } from '../lib/aws/dynamodb.ts';
import { environmentVariable } from '../lib/aws/environment.ts';
import { answer } from '../lib/http/answer.ts';
import { noBody } from '../lib/http/body.ts';
import type { Endpoint } from '../lib/http/endpoint.ts';
import { parse } from '../lib/http/parse.ts';
import { invalid } from '../lib/http/refusal.ts';
import { currentRates } from '../lib/pricing/current-rates.ts';
import { categoryOf, priceOf } from '../lib/pricing/price.ts';
import { type Rates, shippedRates } from '../lib/pricing/rates.ts';
import { ratesStore } from '../lib/pricing/rates-store.ts';

export const PricingQuery = v.object({
  market: v.pipe(v.string(), v.minLength(1, 'market is required')),
  category: v.pipe(v.string(), v.minLength(1, 'category is required')),
});

/** GET /v1/pricing: the list price of a message of one category to one country (D32). The same for every caller. */
export function pricingGet(deps: { readonly rates: () => Promise<Rates>; readonly nowMs: () => number }): Endpoint {
  return clientEndpoint(deps, noBody, async (event) => {
    const query = parse(PricingQuery, event.queryStringParameters ?? {});
    const category = categoryOf(query.category);
    if (category === undefined) {
      const received = JSON.stringify(query.category.slice(0, 60));
      throw invalid('category', `category must be Authentication, Marketing, Utility or Service, received ${received}`);
    }

    const price = priceOf(await deps.rates(), query.market, category);

    return answer(200, price);
  });
}

const { find } = ratesStore(documentClient(), environmentVariable('RATES_TABLE'));
export const handler = pricingGet({ rates: currentRates(find, shippedRates, Date.now), nowMs: Date.now });
