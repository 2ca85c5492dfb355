import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { PlatformApp } from './apps.ts';

/** A body as it came: text, or the bytes where the gateway gave them as base64. */
export type RawBody = string | Buffer;

const signatureForm = /^sha256=([0-9a-f]{64})$/i;

/**
 * The app one of whose secrets has signed this body (D38; platform reference, 10.1); undefined when none has. The platform
 * signs the bytes that it sends and escapes what is not ASCII: JSON that is parsed and written anew has another signature.
 */
export function signingApp(
  apps: readonly PlatformApp[],
  body: RawBody,
  signature: string | undefined,
): PlatformApp | undefined {
  const hex = signature?.match(signatureForm)?.[1];
  if (hex === undefined) return undefined;
  const given = Buffer.from(hex, 'hex');
  return apps.find(({ secrets }) =>
    secrets.some((secret) => timingSafeEqual(createHmac('sha256', secret).update(body).digest(), given)),
  );
}

/** Whether an app has this verify token. Hashes are compared, so that time tells neither its letters nor its length. */
export function isVerifyToken(apps: readonly PlatformApp[], token: string | undefined): boolean {
  if (token === undefined) return false;
  const given = hashOf(token);
  return apps.some(({ verifyToken }) => timingSafeEqual(hashOf(verifyToken), given));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
