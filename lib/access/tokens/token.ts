import { errors, jwtVerify, SignJWT } from 'jose';
import * as v from 'valibot';
import { hasExpired } from '../caller.ts';
import { isPlainToken } from './token-form.ts';
import { type SigningKey, tokenAlgorithm, type VerificationKeys } from './token-keys.ts';

export const tokenLifetimeSeconds = 3_600;

const tokenType = 'at+jwt';
/** Another machine's clock sets `iat` and `nbf`. `exp` has no tolerance, because the endpoints check it as well. */
const clockToleranceSeconds = 5;

export interface TokenScope {
  readonly issuer: string;
  readonly audience: string;
}

export interface TokenSubject {
  readonly userId: string;
  readonly clientId: number;
  readonly permissions: readonly string[];
}

export interface VerifiedToken extends TokenSubject {
  readonly expiresAtSeconds: number;
}

/** jose checks the other claims. `perms` travel on as words between blanks. */
const ClaimsSchema = v.object({
  sub: v.pipe(v.string(), v.minLength(1)),
  cid: v.pipe(v.number(), v.safeInteger(), v.minValue(1)),
  perms: v.array(v.pipe(v.string(), v.regex(/^\S+$/))),
  exp: v.pipe(v.number(), v.safeInteger()),
});

/** Issues an access token for a subject, valid for one hour from `nowMs`; `tokenId` becomes its `jti` (D3). */
export async function issueToken(
  signing: SigningKey,
  scope: TokenScope,
  token: TokenSubject & { readonly tokenId: string; readonly nowMs: number },
): Promise<string> {
  const issuedAtSeconds = Math.floor(token.nowMs / 1000);
  return new SignJWT({ cid: token.clientId, perms: [...token.permissions] })
    .setProtectedHeader({ alg: tokenAlgorithm, kid: signing.keyId, typ: tokenType })
    .setIssuer(scope.issuer)
    .setAudience(scope.audience)
    .setSubject(token.userId)
    .setJti(token.tokenId)
    .setIssuedAt(issuedAtSeconds)
    .setExpirationTime(issuedAtSeconds + tokenLifetimeSeconds)
    .sign(signing.key);
}

/**
 * Returns the content of a valid token of this service at `nowMs`, or undefined for every other text (R33). `exp`
 * counts to the second; `iat` and `nbf` may lie five seconds ahead.
 */
export async function verifyToken(
  keys: VerificationKeys,
  scope: TokenScope,
  presented: { readonly token: string; readonly nowMs: number },
): Promise<VerifiedToken | undefined> {
  if (!isPlainToken(presented.token)) return undefined;
  const payload = await verifiedPayload(keys, scope, presented);
  const claims = v.safeParse(ClaimsSchema, payload);
  if (!claims.success || hasExpired(claims.output.exp, presented.nowMs)) return undefined;
  const { sub, cid, perms, exp } = claims.output;
  return { userId: sub, clientId: cid, permissions: perms, expiresAtSeconds: exp };
}

async function verifiedPayload(
  keys: VerificationKeys,
  scope: TokenScope,
  presented: { readonly token: string; readonly nowMs: number },
): Promise<unknown> {
  try {
    const { payload } = await jwtVerify(
      presented.token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : keys.get(kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      {
        // Without these jose accepts any algorithm of the key and a token that never expires (RFC 8725, 3.1 and 3.8).
        algorithms: [tokenAlgorithm],
        requiredClaims: ['exp', 'sub', 'jti', 'cid', 'perms'],
        maxTokenAge: tokenLifetimeSeconds,
        typ: tokenType,
        issuer: scope.issuer,
        audience: scope.audience,
        clockTolerance: clockToleranceSeconds,
        currentDate: new Date(presented.nowMs),
      },
    );
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
