/**
 * A business-scoped user id, or the parent one of a managed business: a country, and letters and digits whose case counts
 * (platform reference, 4.5). The same person has another id in each portfolio. Always sent whole.
 */
const userIdForm = /^[A-Z]{2}\.(?:ENT\.)?[0-9A-Za-z]{1,128}$/;

export function isUserId(value: unknown): value is string {
  return typeof value === 'string' && userIdForm.test(value);
}

/** The country of its person, as the platform spells it; no other part says anything. */
export function countryOfUserId(userId: string): string {
  return userId.slice(0, 2);
}
