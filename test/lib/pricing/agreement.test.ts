import { describe, expect, test } from 'vitest';
import { isOfUnitedStates } from '#simulator/contract';
import theirPrefixes from '#simulator/data/phone-prefixes.json' with { type: 'json' };
import theirCard from '#simulator/data/rates.json' with { type: 'json' };
import { countryOfNumber } from '../../../lib/pricing/country.ts';
import prefixes from '../../../lib/pricing/phone-prefixes.json' with { type: 'json' };
import card from '../../../lib/pricing/rates-usd-2026-10-01.json' with { type: 'json' };
import { undeliveredMarket } from '../../../lib/pricing/undelivered.ts';
import ofNoPlace from '../../support/area-codes-of-no-place.json' with { type: 'json' };

test('service and simulator have the same prefixes of countries, and the same list prices', () => {
  expect(prefixes).toEqual(theirPrefixes);
  expect(card).toEqual(theirCard);
});

describe('product and simulator agree on every area code from 200 to 999', () => {
  const placeless = new RegExp(`^(${ofNoPlace.flatMap(({ codes }) => codes.split(' ')).join('|')})$`);
  const isOfNoPlace = (code: string) => placeless.test(code);
  const all = Array.from({ length: 800 }, (_, at) => String(200 + at));
  const isTheirsHere = (code: string) => isOfUnitedStates(`1${code}5550123`);
  const isTheirsThere = (code: string) => countryOfNumber(`1${code}5550123`) === 'US';

  test('that belongs to a place', () => {
    const ofPlaces = all.filter((code) => !isOfNoPlace(code));
    expect(ofPlaces.filter((code) => isTheirsHere(code) !== isTheirsThere(code))).toEqual([]);
    expect(ofPlaces.length).toBeGreaterThan(400);
  });

  test('area codes of no place: the simulator does not count them, and no other country has one', () => {
    const others = all.filter(isOfNoPlace);
    expect(others.filter(isTheirsHere)).toEqual([]);
    expect(others.filter((code) => !isTheirsThere(code))).toEqual([]);
  });

  test.each([
    ['212', true],
    ['555', false],
  ])('whether marketing to %s is delivered: %s is told by both', (code, isTheirs) => {
    const digits = `1${code}5550123`;
    const told = undeliveredMarket('MARKETING', { digits, country: countryOfNumber(digits) });
    expect([told !== undefined, isTheirsHere(code)]).toEqual([isTheirs, isTheirs]);
  });
});
