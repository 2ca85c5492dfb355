import { expect, test } from 'vitest';
import { as } from '../support/api.ts';
import { onDeployedStage } from '../support/demo.ts';
import { rows } from '../support/rows.ts';

/* Rates, markets and groups are in test/lib/pricing/. */

const price = (query: string) => as('agent1001', `GET /v1/pricing?${query}`);

// A stage may have other rates (rateSourceUrl).
test.skipIf(onDeployedStage)('the price of a message, its source and what it is of (D32)', async () => {
  const { status, body } = await price('market=aq&category=mARKETING');
  expect([status, body]).toEqual([
    200,
    {
      ...{ market: 'AQ', currency: 'USD', category: 'Marketing', rate: { amount: 0.0604, currency: 'USD' } },
      source: expect.stringMatching(/rate card/),
      note: expect.stringMatching(/group Other/),
    },
  ]);
});

const noCode =
  'no rate for that market and category: market must be a two-letter code (ISO 3166-1 alpha-2), received "UK"; did you mean GB?';
const oneOf = 'category must be Authentication, Marketing, Utility or Service, received';
test.each(rows`
  category=Marketing                        | 400 | invalid_request   | market is required
  market=BR&category=                       | 400 | invalid_request   | category is required
  market=XX&category=Promotional            | 400 | invalid_request   | ${oneOf} "Promotional"
  market=BR&category=Service&category=Utility   | 400 | invalid_request | ${oneOf} "Service,Utility"
  market=BR&category=Marketing&client_id=one    | 400 | invalid_client_id | invalid client_id: one
  market=XX&category=Marketing              | 404 | rate_not_found    | no rate for that market and category
  market=UK&category=Service                | 404 | rate_not_found    | ${noCode}
`)('?%s: %s %s', async (query, status, code, message) => {
  const reply = await price(query);
  expect([String(reply.status), reply.body.code, reply.body.message]).toEqual([status, code, message]);
});
