/**
 * The name of an IANA zone as the runtime spells it, whatever the letter case it is given in; undefined for what names none.
 * A provisioning file and a send name zones by it (D56).
 */
export function zoneNamed(text: string): string | undefined {
  // Some runtimes take an offset for a zone: it has no summer time, and no client that asked for a zone would mean that.
  if (!/^[a-z]/i.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
