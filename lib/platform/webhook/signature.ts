import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { PlatformApp } from './apps.ts';

/** A body as it came: text, or the bytes where the gateway gave them as base64. */
export type RawBody = string | Buffer;

const SignatureSchema = v.pipe(v.string(), v.regex(/^sha256=[0-9a-fA-F]{64}$/));
/** The header that what the platform tells is signed in. */
export const PlatformWebhookHeaders = v.object({ 'X-Hub-Signature-256': SignatureSchema });

/**
 * The app one of whose secrets has signed this body (D38; platform reference, 10.1); undefined when none has. The platform
 * signs the bytes that it sends and escapes what is not ASCII: JSON that is parsed and written anew has another signature.
 */
export function signingApp(
  apps: readonly PlatformApp[],
  body: RawBody,
  signature: string | undefined,
): PlatformApp | undefined {
  if (!v.is(SignatureSchema, signature)) return undefined;
  const given = Buffer.from(signature.slice('sha256='.length), 'hex');
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
