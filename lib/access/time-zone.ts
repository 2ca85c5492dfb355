/**
 * Returns the runtime's spelling of an IANA zone, in whatever letter case it is given, or undefined for an unknown one.
 * Provisioning files and sends name zones (D56).
 */
export function zoneNamed(text: string): string | undefined {
  // Some runtimes accept an offset as a zone, but an offset has no summer time.
  if (!/^[a-z]/i.test(text)) return undefined;
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
