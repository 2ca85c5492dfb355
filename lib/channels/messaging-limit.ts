/**
 * To how many people a portfolio may write in 24 hours, by the platform's word for its limit (platform reference, 4.4): 2,000 by
 * `TIER_2K`. Undefined where there is no limit, or the word is not known.
 */
export function peopleADay(limit: string | undefined): number | undefined {
  const [, digits, thousands] = /^TIER_(\d{1,6})(K?)$/.exec(limit ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits) * (thousands === '' ? 1 : 1_000);
}
