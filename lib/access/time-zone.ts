/** `Etc/GMT+5` is five hours behind UTC, and `SystemV/` zones know no later rules: neither is an area. */
const areaAndPlace = /^(?!(?:etc|systemv)\/)[a-z]+\/[a-z]/i;

/**
 * Returns the runtime's spelling of an IANA zone, in whatever letter case it is given, or undefined for any other text.
 * Only `Area/Place` and `UTC` are zones: `ART` is Cairo, `BST` Dhaka and `EST` Panama, which no writer means (D56).
 */
export function zoneNamed(text: string): string | undefined {
  if (!areaAndPlace.test(text) && text.toUpperCase() !== 'UTC') return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
