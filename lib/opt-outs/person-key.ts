import * as v from 'valibot';

/** Its digests have as many bytes (person-name.ts). */
export const personKeyBytes = 32;

const PersonKeySchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    key: v.pipe(
      v.string(),
      v.check((key) => Buffer.from(key, 'base64url').byteLength === personKeyBytes),
    ),
  }),
);

/**
 * Parses the secret that names people: `{"key": "<32 bytes, base64url>"}`. Throws, without quoting it, on another text.
 * It is never rotated: under another key no stop would be found.
 */
export function personKey(text: string): Uint8Array {
  const parsed = v.safeParse(PersonKeySchema, text);
  if (!parsed.success) throw new Error('the key of people is not usable');
  return Buffer.from(parsed.output.key, 'base64url');
}

export function personKeyText(key: Uint8Array): string {
  return JSON.stringify({ key: Buffer.from(key).toString('base64url') });
}
