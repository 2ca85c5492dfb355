/**
 * A percent sign that begins no escape, every character that a URL cannot contain (RFC 3986), and the colon: the platform asks
 * for its escape too, or its own check of the whole URL may fail (platform reference, 4.2).
 */
const cannotStand = /%(?![0-9A-Fa-f]{2})|[^A-Za-z0-9\-._~/?#@!$&'()*+,;=%]/gu;

/**
 * The value of a URL button as it is appended to the template's URL (D37): what a URL may contain stays as given, escapes
 * included; everything else is percent-encoded, once. Encoding its own result changes nothing.
 */
export function urlSuffix(value: string): string {
  return value.toWellFormed().replace(cannotStand, encodeURIComponent);
}
