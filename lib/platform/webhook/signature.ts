import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { PlatformApp } from './apps.ts';

const signatureForm = /^sha256=([0-9a-f]{64})$/i;

/**
 * The app one of whose secrets has signed these bytes (D38; platform reference, 10.1); undefined when none has. The bytes
 * are those that came: the platform escapes what is not ASCII, so JSON that is written anew has another signature.
 */
export function signingApp(
  apps: readonly PlatformApp[],
  bytes: Buffer,
  signature: string | undefined,
): PlatformApp | undefined {
  const [, hex] = signatureForm.exec(signature ?? '') ?? [];
  if (hex === undefined) return undefined;
  const given = Buffer.from(hex, 'hex');
  return apps.find(({ secrets }) =>
    secrets.some((secret) => timingSafeEqual(createHmac('sha256', secret).update(bytes).digest(), given)),
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
