import { expect, test } from 'vitest';
import { countryNamed, countryOfNumber } from '../../../lib/pricing/country.ts';
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

test('every prefix is a country code of two letters under digits', () => {
  for (const [prefix, country] of Object.entries(phonePrefixes)) {
    expect(`${prefix} ${country}`).toMatch(/^[1-9]\d{0,6} [A-Z]{2}$/);
  }
});
