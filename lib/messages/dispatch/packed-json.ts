import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib';

/** Quality 5 packs 6 MB in a fifth of a second; the default of 11 takes ten seconds and saves a fifth more. */
const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

export function packedText(json: string): Uint8Array<ArrayBuffer> {
  return brotliCompressSync(json, compression);
}

export function packed(value: unknown): Uint8Array<ArrayBuffer> {
  return packedText(JSON.stringify(value));
}

/** Throws when the value unpacks to more than `maxBytes`: this service wrote no such value. */
export function unpacked(bytes: Uint8Array, maxBytes: number): unknown {
  return JSON.parse(unpackedText(bytes, maxBytes));
}

/** Inverts `packedText`. Throws as `unpacked` does. */
export function unpackedText(bytes: Uint8Array, maxBytes: number): string {
  return brotliDecompressSync(bytes, { maxOutputLength: maxBytes }).toString('utf8');
}
