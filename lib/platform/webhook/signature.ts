import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import * as v from 'valibot';
import type { PlatformApp } from './apps.ts';

/** A body is as it came: text, or bytes where the gateway gave base64. */
export type RawBody = string | Buffer;

const SignatureSchema = v.pipe(v.string(), v.regex(/^sha256=[0-9a-fA-F]{64}$/));
export const PlatformWebhookHeaders = v.object({ 'X-Hub-Signature-256': SignatureSchema });

/**
 * Returns the app whose secret signed this body (D38; platform reference, 10.1), or undefined. The signature covers the
 * sent bytes with escaped non-ASCII, so JSON that is serialized again has another one.
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

/** Tells whether an app has this verify token. It compares hashes, so that time reveals neither letters nor length. */
export function isVerifyToken(apps: readonly PlatformApp[], token: string | undefined): boolean {
  if (token === undefined) return false;
  const given = hashOf(token);
  return apps.some(({ verifyToken }) => timingSafeEqual(hashOf(verifyToken), given));
}

function hashOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
