import { repeatedKeys } from '../../http/repeated-keys.ts';

/** A token of this service has some 500 characters. */
const tokenMaxBytes = 8_192;

/**
 * Tells whether a text has the one spelling of issued tokens (D2), so that two readers cannot understand it
 * differently: at most 8 KB, canonical base64url, no double keys, no `crit` or `b64`. It does not check the signature.
 */
export function isPlainToken(token: string): boolean {
  if (token.length > tokenMaxBytes) return false;
  const segments = token.split('.');
  if (segments.length !== 3 || !segments.every(isCanonical)) return false;
  const [header, payload] = segments.slice(0, 2).map(objectOf);
  return header !== undefined && payload !== undefined && !('crit' in header) && !('b64' in header);
}

/** Several spellings decode to the same bytes; only the canonical one survives encoding again. */
function isCanonical(segment: string): boolean {
  return segment !== '' && Buffer.from(segment, 'base64url').toString('base64url') === segment;
}

function objectOf(segment: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(segment, 'base64url'));
    const value: unknown = JSON.parse(json);
    if (value === null || typeof value !== 'object' || Array.isArray(value) || repeatedKeys(json).length > 0) return;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
