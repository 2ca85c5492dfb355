import { zoneNamed } from '../../access/time-zone.ts';
import { numberSpellings } from '../../opt-outs/canonical-number.ts';
import { isUserId } from '../../platform/user-id.ts';
import { destinationOf } from '../request/recipient-address.ts';
import phoneZones from './phone-zones.json' with { type: 'json' };

/*
 * phone-zones.json lists zones by country, and by prefixes where numbers reveal the area; it states its source and
 * date. Elsewhere mobile numbers have all zones of their country.
 */

const zonesOfCountry = zonesByWord(phoneZones.countries, (codes) => codes.split(' '));
const zonesOfPrefix = zonesByWord(phoneZones.prefixes, prefixesIn);
const longestPrefix = Math.max(...[...zonesOfPrefix.keys()].map((prefix) => prefix.length));

function zonesByWord(
  sets: Readonly<Record<string, string>>,
  wordsIn: (text: string) => string[],
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    Object.entries(sets).flatMap(([zones, words]) => {
      const named = zones.split('&');
      return wordsIn(words).map((word) => [word, named] as const);
    }),
  );
}

/** Expands the file's short form: `1208:201,226-228 1385` means 1208201, 1208226 to 1208228, and 1385. */
export function prefixesIn(text: string): string[] {
  return text.split(' ').flatMap((group) => {
    const [head = '', tails = ''] = group.split(':');
    return tails.split(',').flatMap((tail) => {
      const [first = '', last = first] = tail.split('-');
      const count = Number(last) - Number(first) + 1;
      return Array.from({ length: count }, (_, at) =>
        first === '' ? head : `${head}${String(Number(first) + at).padStart(first.length, '0')}`,
      );
    });
  });
}

/**
 * Returns a number's zones by area and country, a user id's by country; both spellings of a number have the same (D25).
 * One zone unknown to the runtime makes all unknown: the others alone would allow too much.
 */
export function zonesOf(to: string, isKnown = isKnownToRuntime): readonly string[] | undefined {
  const { digits = '', country } = destinationOf(to);
  const ofAreas = isUserId(to) ? [] : numberSpellings(digits).flatMap((spelled) => byArea(spelled) ?? []);
  const zones = ofAreas.length > 0 ? [...new Set(ofAreas)].sort() : zonesOfCountry.get(country ?? '');
  return zones?.every(isKnown) ? zones : undefined;
}

const known = new Map<string, boolean>();

function isKnownToRuntime(zone: string): boolean {
  const before = known.get(zone) ?? zoneNamed(zone) !== undefined;
  known.set(zone, before);
  return before;
}

function byArea(digits: string): readonly string[] | undefined {
  for (let length = longestPrefix; length > 0; length -= 1) {
    const zones = zonesOfPrefix.get(digits.slice(0, length));
    if (zones !== undefined) return zones;
  }
  return undefined;
}
