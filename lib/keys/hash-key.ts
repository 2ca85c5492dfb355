import { createHash } from 'node:crypto';

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * Returns a key computed from facts, so that no look-up is needed: `characters` of lower-case base32, five bits each,
 * of the SHA-256 over their JSON.
 */
export function hashKey(facts: readonly unknown[], characters: number): string {
  let bits = '';
  for (const byte of createHash('sha256').update(JSON.stringify(facts)).digest()) {
    bits += byte.toString(2).padStart(8, '0');
  }
  const fives = bits.slice(0, 5 * characters).match(/.{5}/g) ?? [];
  return fives.map((five) => base32Alphabet[Number.parseInt(five, 2)]).join('');
}
