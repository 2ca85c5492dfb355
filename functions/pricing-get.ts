import * as v from 'valibot';
import { deployed, deployedFrame } from '../lib/access/deployed.ts';
import { askedClientId, ClientIdText, clientEndpoint } from '../lib/access/page.ts';
import { documentedAs } from '../lib/http/documented.ts';
import { answer, type Endpoint, invalid, noBody, parse, shaped } from '../lib/http/page.ts';
import { currentRates } from '../lib/pricing/current-rates.ts';
import { deployedRates } from '../lib/pricing/deployed.ts';
import { categoryOf, PriceCategoryWord, PriceSchema, priceOf } from '../lib/pricing/price.ts';
import { type Rates, shippedRates } from '../lib/pricing/rates.ts';

export const PricingQuery = v.object({
  market: v.pipe(v.string(), v.minLength(1, 'market is required')),
  category: v.pipe(
    v.string(),
    v.minLength(1, 'category is required'),
    documentedAs(() => PriceCategoryWord),
  ),
  client_id: ClientIdText,
});

export const PricingAnswer = PriceSchema;

/**
 * GET /v1/pricing: shows the list price of a message of one category to one country (D32), the same for every caller.
 */
export function pricingGet(ports: { readonly rates: () => Promise<Rates>; readonly nowMs: () => number }): Endpoint {
  return clientEndpoint(ports, { body: noBody, query: PricingQuery }, async (event) => {
    const query = parse(PricingQuery, event.queryStringParameters ?? {});
    // The form of the id alone is checked, because every client has the same prices.
    askedClientId({ query: query.client_id });
    const category = categoryOf(query.category);
    if (category === undefined) {
      const received = JSON.stringify(query.category.slice(0, 60));
      throw invalid('category', `category must be Authentication, Marketing, Utility or Service, received ${received}`);
    }

    const price = priceOf(await ports.rates(), query.market, category);

    return answer(200, shaped(PricingAnswer, price));
  });
}

export const handler = deployed(() =>
  pricingGet({ ...deployedFrame(), rates: currentRates(deployedRates().find, shippedRates, Date.now) }),
);
