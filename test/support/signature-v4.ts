import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Returns the scope of an AWS Signature Version 4; undefined when the key did not make this signature. */
export function signedScope(
  { method, path, headers, body }: SignedRequest,
  secretAccessKey: string,
): { readonly keyId: string; readonly scope: string; readonly signedHeaders: readonly string[] } | undefined {
  const parts = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(
    headers.authorization ?? '',
  );
  if (parts === null) return undefined;
  const [, keyId = '', scope = '', names = '', signature] = parts;
  const signedHeaders = names.split(';');
  const lines = signedHeaders.map((name) => `${name}:${String(headers[name]).trim().replace(/ +/g, ' ')}`);
  const canonical = [method, path, '', ...lines, '', names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical)].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((above, part) => hmac(above, part), `AWS4${secretAccessKey}`);
  return hmac(key, toSign).toString('hex') === signature ? { keyId, scope, signedHeaders } : undefined;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
