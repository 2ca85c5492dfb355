/**
 * A business-scoped user id, or the parent one of a managed business, is a country, and case-sensitive letters and
 * digits (platform reference, 4.5). A person's id differs by portfolio. It is always sent whole.
 */
const userIdForm = /^[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128}$/;

export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && userIdForm.test(value);
}

/** Returns the person's country as the platform spells it. No other part has a meaning. */
export function countryOfUserId(userId: string): string {
  return userId.slice(0, 2);
}
