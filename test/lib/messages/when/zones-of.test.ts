import { describe, expect, test } from 'vitest';
import phoneZones from '../../../../lib/messages/when/phone-zones.json' with { type: 'json' };
import { prefixesIn, zonesOf } from '../../../../lib/messages/when/zones-of.ts';
import countries from '../../../../lib/pricing/countries.json' with { type: 'json' };
import phonePrefixes from '../../../../lib/pricing/phone-prefixes.json' with { type: 'json' };

/** A phone number may be in one of several zones (D56). */

const countriesOf = Object.values(phoneZones.countries).flatMap((codes) => codes.split(' '));
const prefixes = Object.values(phoneZones.prefixes).flatMap(prefixesIn);

describe('the data', () => {
  test('says where it comes from, under which licence, and of which day it is', () => {
    expect(phoneZones).toMatchObject({
      source: expect.stringContaining('libphonenumber'),
      licence: 'Apache-2.0',
      date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    });
  });

  test('names zones that the runtime knows, in order, and each country and prefix once', () => {
    for (const sets of [phoneZones.countries, phoneZones.prefixes]) {
      for (const zones of Object.keys(sets).map((names) => names.split('&'))) {
        expect(zones).toEqual([...new Set(zones)].sort());
        for (const zone of zones) expect(() => new Intl.DateTimeFormat('en', { timeZone: zone })).not.toThrow();
      }
    }
    for (const words of [countriesOf, prefixes]) expect(new Set(words).size).toBe(words.length);
    expect(countriesOf.filter((word) => !/^[A-Z]{2}$/.test(word))).toEqual([]);
    expect(prefixes.filter((word) => !/^[1-9]\d{0,8}$/.test(word))).toEqual([]);
    expect(prefixes.length).toBeGreaterThan(2_500);
  });

  test('has a zone for every country, but two islands without people, and for every prefix of numbers', () => {
    expect(countries.filter((country) => zonesOf(`${country}.1`) === undefined)).toEqual(['BV', 'HM']);
    expect(Object.keys(phonePrefixes).filter((prefix) => zonesOf(`${prefix}5550000`) === undefined)).toEqual([]);
  });

  test('says of an area what its country has: no prefix leads out of it', () => {
    const abroad = prefixes.filter((prefix) => {
      const country = Object.entries(phonePrefixes)
        .filter(([known]) => prefix.startsWith(known))
        .toSorted(([one], [other]) => other.length - one.length)[0]?.[1];
      const ofCountry = new Set(zonesOf(`${country}.1`));
      return country !== undefined && !zonesOf(`${prefix}0000000`)?.every((zone) => ofCountry.has(zone));
    });
    expect(abroad).toEqual([]);
  });
});

test('prefixes are written with their common head once, and in ranges', () => {
  const spelled = ['1208201', '1208226', '1208227', '1208228', '1385', '34099', '34100', '34101'];
  expect(prefixesIn('1208:201,226-228 1385 34:099-101')).toEqual(spelled);
});

test.each([
  ['a country with one clock', '5491155550001', ['America/Buenos_Aires']],
  ['whatever the spelling', '+5491155550001', ['America/Buenos_Aires']],
  ['an area of the United States', '12125550001', ['America/New_York']],
  ['a longer prefix of an area', '12082010001', ['America/Denver']],
  ['a landline of the Canary Islands', '34922111222', ['Atlantic/Canary']],
  ['a mobile number of Spain, which tells no area', '34600111222', ['Atlantic/Canary', 'Europe/Madrid']],
  ['an area code that is the mobile one, too', '5569999999999', ['America/Manaus']],
  ['Morocco, whose clocks are its own', '212600000000', ['Africa/Casablanca']],
  ['Kazakhstan, which has Russia’s first digit', '77011234567', ['Asia/Almaty']],
])('%s: %s', (_, to, zones) => {
  expect(zonesOf(to)).toEqual(zones);
});

test.each([
  ['one knows the area', '5216561234567', '526561234567', ['America/Ciudad_Juarez']],
  ['each knows another one', '5581981234567', '558181234567', ['America/Noronha', 'America/Sao_Paulo']],
])('both spellings of a number have the same zones, where %s (D25)', (_, one, other, zones) => {
  expect([zonesOf(one), zonesOf(other)]).toEqual([zones, zones]);
});

test('a mobile number of a wide country, a number of no area and a user id have all zones of the country', () => {
  expect(zonesOf('79161234567')).toEqual(zonesOf('RU.1a2B'));
  expect(zonesOf('61412345678')).toEqual(zonesOf('AU.1a2B'));
  expect(zonesOf('18005550001')).toEqual(zonesOf('US.ENT.1a2B'));
  expect(zonesOf('US.1')).toEqual(expect.arrayContaining(['America/New_York', 'America/Denver', 'Pacific/Honolulu']));
  expect(zonesOf('RU.1')).toEqual(expect.arrayContaining(['Europe/Kaliningrad', 'Asia/Kamchatka']));
});

test('one zone that the runtime does not know makes all unknown: the others alone would allow too much', () => {
  const knownBut = (unknown: string) => (zone: string) => zone !== unknown;
  for (const zone of ['Atlantic/Canary', 'Europe/Madrid'])
    expect(zonesOf('34600111222', knownBut(zone))).toBeUndefined();
  expect(zonesOf('34600111222', knownBut('Europe/Paris'))).toEqual(['Atlantic/Canary', 'Europe/Madrid']);
});

test('a number of no country has no known zone', () => {
  expect(zonesOf('99912345678')).toBeUndefined();
  expect(zonesOf('ZZ.1')).toBeUndefined();
});
