import { expect, test } from 'vitest';
import { costOf } from '../../../lib/messages/report/cost.ts';
import { chargeOf } from '../../../lib/pricing/charge.ts';
import { shippedRates } from '../../../lib/pricing/rates.ts';
import { makeDispatchHead } from '../../support/made-dispatches.ts';

const [marketing, utility] = [6_180_000, 2_600_000];
const day = '2026-11-28';

/** The template is UTILITY; the message went to Argentina. */
test.each<[string, string | undefined, string | undefined, number, 'platform' | 'list']>([
  ['its own category', 'utility', 'regular', utility, 'platform'],
  ['another category', 'MARKETING', 'regular', marketing, 'platform'],
  ['no category', undefined, 'regular', utility, 'platform'],
  ['nothing', undefined, undefined, utility, 'list'],
  ['a category without a rate', 'authentication_international', 'regular', utility, 'list'],
  ['the same with a hyphen', 'authentication-international', 'regular', utility, 'list'],
  ['the marketing edge', 'marketing_lite', 'regular', marketing, 'list'],
  ['a group', 'group_marketing', 'regular', marketing, 'list'],
  ['a category that is new', 'promotional', 'regular', utility, 'list'],
  ['a name of every object', 'constructor', 'regular', utility, 'list'],
  ['that a category without a rate is free', 'authentication_international', 'free_customer_service', 0, 'platform'],
])('the platform tells %s: %s, %s costs %i by %s (D32, D58)', (_, category, type, units, basis) => {
  const pricing = type === undefined ? undefined : { type, category };
  const told = { day, market: 'AR', templateCategory: 'UTILITY', pricing };
  expect(chargeOf(told, [shippedRates])).toMatchObject({ units, billed: units > 0 });
  const head = makeDispatchHead({ category: 'UTILITY', acceptedAtMs: Date.parse(day), receiptsExpected: true });
  const proven = { state: 'delivered', deliveredAtMs: Date.parse(day), atMs: Date.parse(day), pricing } as const;
  const message = { outcome: { state: 'delivered' }, proven, market: 'AR' } as never;
  const { cost } = costOf(head, [message], [shippedRates]);
  expect(cost).toEqual({ units, basis, final: true });
});

test.each(['Other', 'XK', 'SH', 'NF'])('what goes to %s has the price of others (D32)', (market) => {
  expect(chargeOf({ day, market, templateCategory: 'MARKETING' }, [shippedRates])).toMatchObject({ units: 6_040_000 });
  expect(chargeOf({ day, market, templateCategory: 'PROMOTIONAL' }, [shippedRates])).toMatchObject({
    units: 6_040_000,
  });
});
