/**
 * Returns how many people a portfolio may write to in 24 hours, by the platform's limit (platform reference, 4.4):
 * 2,000 for `TIER_2K`. Returns undefined for no limit, or an unknown word.
 */
export function peopleADay(limit: string | undefined): number | undefined {
  const [, digits, thousands] = /^TIER_(\d{1,6})(K?)$/.exec(limit ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) * (thousands === '' ? 1 : 1_000);
}
