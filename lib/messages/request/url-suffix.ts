/**
 * The form matches a percent sign without an escape, characters that no URL may contain (RFC 3986), and the colon,
 * which the platform wants escaped for its check of the URL (platform reference, 4.2).
 */
const cannotStand = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~/?#@!$&'()*+,;=%]/gu;

/**
 * Returns the value of a URL button for the template's URL (D37). Valid URL characters and escapes stay, others are
 * percent-encoded once. Is idempotent.
 */
export function urlSuffix(value: string): string {
  return value.toWellFormed().replace(cannotStand, encodeURIComponent);
}
