import { repeatedKeys } from '../../http/repeated-keys.ts';

/** A longer text is no token of ours, whatever it says; one of ours has some 500 characters. */
export const tokenMaxBytes = 8_192;

/**
 * Whether a text is written the one way in which tokens are issued (D2): at most 8 KB, three segments of canonical
 * base64url, header and payload JSON objects without double keys, no `crit` or `b64`. So no token has two spellings,
 * and no two readers understand different things. It says nothing of the signature.
 */
export function isPlainToken(token: string): boolean {
  if (token.length > tokenMaxBytes) return false;
  const segments = token.split('.');
  if (segments.length !== 3 || !segments.every(isCanonical)) return false;
  const [header, payload] = segments.slice(0, 2).map(objectOf);
  return header !== undefined && payload !== undefined && !('crit' in header) && !('b64' in header);
}

/** Only one of the spellings that decode to the same bytes is what encoding them gives. */
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
