import { expect, test } from 'vitest';
import {
  countryNamed,
  countryOfNumber,
  isCountry,
  knownCountries,
  marketOfCountry,
} from '../../../lib/pricing/country.ts';
import phonePrefixes from '../../../lib/pricing/phone-prefixes.json' with { type: 'json' };

test.each([
  ['5491100000001', 'AR'],
  ['5511900000003', 'BR'],
  ['12125550123', 'US'],
  ['14165550123', 'CA'],
  ['12735550123', 'CA'],
  ['18095550123', 'DO'],
  ['77011234567', 'KZ'],
  ['79161234567', 'RU'],
  ['447911123456', 'GB'],
  ['441534123456', 'JE'],
  ['35312345678', 'IE'],
  ['38344123456', 'XK'],
  ['24755123', 'SH'],
  ['6723123456', 'NF'],
  ['6721123456', undefined],
  ['881612345678', undefined],
  ['99912345678', undefined],
  ['', undefined],
])('%s is a number of %s', (digits, country) => {
  expect(countryOfNumber(digits)).toBe(country);
});

test.each([
  ['Argentina', 'AR'],
  ['Brasil', 'BR'],
  ['brazil', 'BR'],
  ['méxico', 'MX'],
  ['Untied States', 'US'],
  ['UK', 'GB'],
  ['uk', 'GB'],
  ['SU', 'RU'],
  ['XX', undefined],
  ['Atlantis and beyond', undefined],
  ['AR,AR', undefined],
  ['', undefined],
])('the country called %j is %s', (name, code) => {
  expect(countryNamed(name)).toBe(code);
});

test.each([
  ['AR', 'AR', true],
  ['XK', 'XK', false],
  ['ZZ', 'Other', false],
  [undefined, 'Other', false],
])('%s is the market %s in prices and sums; assigned by ISO 3166-1: %s (D32, D18)', (country, market, assigned) => {
  expect([marketOfCountry(country), isCountry(country ?? '')]).toEqual([market, assigned]);
});

test('every prefix is of a country that has a price', () => {
  for (const [prefix, country] of Object.entries(phonePrefixes)) {
    expect([prefix, /^[1-9]\d{0,6}$/.test(prefix) && knownCountries.has(country)]).toEqual([prefix, true]);
  }
});
