import { webcrypto } from 'node:crypto';
import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { expect, test } from 'vitest';
import { verifyToken } from '../../../../lib/access/tokens/token.ts';
import { isPlainToken } from '../../../../lib/access/tokens/token-form.ts';
import { signingKey, verificationKeys } from '../../../../lib/access/tokens/token-keys.ts';
import { jwks, keyPair } from '../../../support/keys.ts';

/**
 * A lenient reader would accept these spellings of a good token: each has a valid signature over exactly the presented
 * characters.
 */

const nowMs = Date.UTC(2026, 10, 20, 12);
const nowSeconds = nowMs / 1000;
const scope = { issuer: 'https://issuer.example', audience: 'template-messaging' };
const pair = await keyPair();
const { key } = await signingKey(jwks(pair.private));
const keys = await verificationKeys(jwks(pair.public));
const publicKey = keys.get(pair.public.kid);
if (publicKey === undefined) throw new Error('no public key');

const header = { alg: 'ES256', kid: pair.private.kid, typ: 'at+jwt' };
const claims = {
  iss: scope.issuer,
  aud: scope.audience,
  sub: 'supervisor1001',
  jti: 'id-1',
  iat: nowSeconds,
  exp: nowSeconds + 60,
  cid: 1001,
  perms: [],
};
const headerText = JSON.stringify(header);
const claimsText = JSON.stringify(claims);

const encoded = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64url');
const accepted = async (token: string) => (await verifyToken(keys, scope, { token, nowMs })) !== undefined;

/** Signs the given segments as they are; `respelled` changes the spelling of the signature. */
async function signed(head: string, payload: string, respelled = (signature: string) => signature): Promise<string> {
  const input = Buffer.from(`${head}.${payload}`);
  const signature = await webcrypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key as webcrypto.CryptoKey, input);
  return `${head}.${payload}.${respelled(encoded(new Uint8Array(signature)))}`;
}

const ofTexts = (head: string, payload: string) => signed(encoded(head), encoded(payload));

/** Pads the text with spaces until the last character of its base64 has unused bits. */
function withSpareBits(text: string): string {
  const padded = text.replace(/\}$/, ' }');
  return encoded(text).length % 4 === 0 ? withSpareBits(padded) : text;
}

/** Respells the same bytes with the unused bits of the last character set. */
function strayBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const respelled = segment.slice(0, -1) + alphabet[alphabet.indexOf(segment.slice(-1)) + 1];
  expect(Buffer.from(respelled, 'base64url').equals(Buffer.from(segment, 'base64url'))).toBe(true);
  return respelled;
}

const padded = (segment: string) => segment + '='.repeat((4 - (segment.length % 4)) % 4);
const spareHead = encoded(withSpareBits(headerText));
const spareClaims = encoded(withSpareBits(claimsText));
const again = (text: string, field: string) => text.replace(/\}$/, `,${field}}`);

test('the plain spelling is accepted, blanks and escapes inside the JSON too', async () => {
  expect(await accepted(await ofTexts(headerText, claimsText))).toBe(true);
  expect(await accepted(await signed(spareHead, spareClaims))).toBe(true);
  expect(await accepted(await ofTexts(headerText, claimsText.replace('"sub"', '"\\u0073ub"')))).toBe(true);
});

test('a library alone takes a token with stray bits and a doubled claim: the look at the spelling is needed', async () => {
  const doubled = again(claimsText, '"cid":1002');
  for (const token of [await signed(strayBits(spareHead), spareClaims), await ofTexts(headerText, doubled)]) {
    await expect(jwtVerify(token, publicKey, { currentDate: new Date(nowMs) })).resolves.toBeDefined();
  }
});

test.each<readonly [string, () => Promise<string>]>([
  ['stray bits at the end of the header', () => signed(strayBits(spareHead), spareClaims)],
  ['stray bits at the end of the payload', () => signed(spareHead, strayBits(spareClaims))],
  ['stray bits at the end of the signature', () => signed(spareHead, spareClaims, strayBits)],
  ['a padded header', () => signed(padded(spareHead), spareClaims)],
  ['a padded payload', () => signed(spareHead, padded(spareClaims))],
  ['a padded signature', () => signed(spareHead, spareClaims, padded)],
  ['a percent-encoded padding', () => signed(spareHead, spareClaims, (signature) => `${signature}%3D%3D`)],
  [
    'plain base64 in place of base64url',
    () => signed(Buffer.from(again(headerText, '"x":"??>"')).toString('base64'), spareClaims),
  ],
  ['a line break in the header', () => signed(`${spareHead.slice(0, 8)}\n${spareHead.slice(8)}`, spareClaims)],
  ['a blank in the signature', () => signed(spareHead, spareClaims, (text) => `${text.slice(0, 8)} ${text.slice(8)}`)],
  ['a claim twice', () => ofTexts(headerText, again(claimsText, '"cid":1001'))],
  ['a claim twice, once escaped', () => ofTexts(headerText, again(claimsText, '"\\u0063id":1002'))],
  ['a key twice deep inside a claim', () => ofTexts(headerText, again(claimsText, '"x":[{"a":1,"a":2}]'))],
  ['a header twice', () => ofTexts(again(headerText, '"alg":"ES256"'), claimsText)],
  ['b64 true', () => ofTexts(again(headerText, '"b64":true,"crit":["b64"]'), claimsText)],
  ['b64 alone', () => ofTexts(again(headerText, '"b64":true'), claimsText)],
  ['b64 false', () => ofTexts(again(headerText, '"b64":false,"crit":["b64"]'), claimsText)],
  ['an empty crit', () => ofTexts(again(headerText, '"crit":[]'), claimsText)],
  ['a crit of a known header', () => ofTexts(again(headerText, '"crit":["alg"]'), claimsText)],
  ['a payload that is a list', () => ofTexts(headerText, `[${claimsText}]`)],
  ['a payload that is null', () => ofTexts(headerText, 'null')],
  ['a payload that is text', () => ofTexts(headerText, '"payload"')],
  ['a payload that is a number', () => ofTexts(headerText, '5')],
  ['a payload that is no JSON', () => ofTexts(headerText, claimsText.slice(1))],
  ['a byte order mark', () => ofTexts(headerText, `\uFEFF${claimsText}`)],
  [
    'bytes that are no UTF-8',
    () => signed(encoded(headerText), encoded(Buffer.from(again(claimsText, '"x":"\xFF"'), 'latin1'))),
  ],
  ['a fourth segment', async () => `${await ofTexts(headerText, claimsText)}.`],
  ['four segments', async () => `${await ofTexts(headerText, claimsText)}.AAAA`],
  ['no signature', () => signed(spareHead, spareClaims, () => '')],
  ['two segments', async () => (await ofTexts(headerText, claimsText)).split('.').slice(0, 2).join('.')],
])('refused although the signature is right: %s (D2)', async (_, make) => {
  const token = await make();
  expect(isPlainToken(token)).toBe(false);
  expect(await accepted(token)).toBe(false);
});

test('8 KB is the most: a good token of 8,192 characters is accepted, a longer one is not (D2)', async () => {
  const sized = async (characters: number) => {
    const bare = (await ofTexts(headerText, again(claimsText, '"x":""'))).length;
    let fill = Math.floor(((characters - bare) * 3) / 4);
    let token = await ofTexts(headerText, again(claimsText, `"x":"${'x'.repeat(fill)}"`));
    while (token.length < characters) {
      fill += 1;
      token = await ofTexts(headerText, again(claimsText, `"x":"${'x'.repeat(fill)}"`));
    }
    return token;
  };
  const most = await sized(8_191);
  expect(most.length).toBeLessThanOrEqual(8_192);
  expect(await accepted(most)).toBe(true);
  const more = await sized(8_193);
  expect(await accepted(more)).toBe(false);
});

test('any three values with a signature: plain only in the spelling that encoding them gives', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(fc.object(), fc.object(), bytes, fc.nat(2), fc.nat(63), (head, payload, signature, which, at) => {
      const { crit: _, b64: __, ...plainHead } = head as Record<string, unknown>;
      const segments = [JSON.stringify(plainHead), JSON.stringify(payload), signature].map(encoded);
      expect(isPlainToken(segments.join('.'))).toBe(true);
      const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
      const last = `${segments[which]?.slice(0, -1)}${alphabet[at]}`;
      const other = segments.with(which, last);
      const sameBytes = Buffer.from(last, 'base64url').equals(Buffer.from(segments[which] ?? '', 'base64url'));
      if (sameBytes && last !== segments[which]) expect(isPlainToken(other.join('.'))).toBe(false);
    }),
  );
});
