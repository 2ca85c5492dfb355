/** All secret and personal data of the tests has one of these forms (R44). */
const forms: readonly RegExp[] = [
  /canary/i,
  // Access tokens may be whole or truncated.
  /eyJ[\w-]{8,}/,
  /bearer/i,
  /demo-(operator|supervisor|agent|platform|app-secret|verify-token)/,
  // Phone numbers of the tests are found, DIDs too. Ids of hexadecimal digits and hyphens do not match.
  /(?<![\w-])\+?(549\d{7,12}|5511\d{8,10}|1555\d{7})(?![\w-])/,
  // Business-scoped user ids of the tests are found.
  /(?<![\w.-])(?:AR|BR|US)\.(?:ENT\.)?[0-9A-Za-z]{4,128}(?![\w.-])/,
  // Secrets that sign events begin so.
  /whsec_/,
  /https?:\/\/(cdn|www)\./,
];

/** Returns lines of a log with secret or personal data. */
export function leaksIn(log: string): string[] {
  return log.split('\n').filter((line) => forms.some((form) => form.test(line)));
}
