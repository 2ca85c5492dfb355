import type { MediaFormat } from './header-formats.ts';

export type MediaType = 'image/jpeg' | 'image/png' | 'video/mp4' | 'video/3gpp' | 'application/pdf';

interface MediaLimit {
  readonly types: readonly MediaType[];
  readonly maxBytes: number;
}

const mebibyte = 1_048_576;

/** Types and sizes are those of the platform reference, 3.3 and 5.3, with a megabyte in the larger sense. */
export const mediaLimits: Readonly<Record<MediaFormat, MediaLimit>> = {
  IMAGE: { types: ['image/jpeg', 'image/png'], maxBytes: 5 * mebibyte },
  VIDEO: { types: ['video/mp4', 'video/3gpp'], maxBytes: 16 * mebibyte },
  DOCUMENT: { types: ['application/pdf'], maxBytes: 100 * mebibyte },
  GIF: { types: ['video/mp4'], maxBytes: 3.5 * mebibyte },
};

/** These declarations say nothing about the content. */
const undeclared = new Set(['application/octet-stream', 'binary/octet-stream']);

/**
 * Returns the type of a header's file by its first bytes, or its fault: too large, a wrong type, or not the declared
 * type. `contentType` is lower case without parameters.
 */
export function checkMedia(
  format: MediaFormat,
  file: { readonly bytes: Buffer; readonly contentType?: string },
): { readonly type: MediaType } | { readonly fault: string } {
  const { types, maxBytes } = mediaLimits[format];
  if (file.bytes.byteLength > maxBytes) return { fault: `${format} media must have at most ${maxBytes} bytes` };
  const type = mediaTypeOf(file.bytes);
  if (type === undefined || !types.includes(type)) {
    return { fault: `${format} media must be ${types.join(' or ')}${type === undefined ? '' : `, not ${type}`}` };
  }
  const declared = file.contentType === 'image/jpg' ? 'image/jpeg' : file.contentType;
  if (declared !== undefined && declared !== type && !undeclared.has(declared)) {
    return { fault: `the media is ${type} but was declared as ${declared.slice(0, 80)}` };
  }
  if (type === 'image/png' && !isEightBitColour(file.bytes)) return { fault: 'PNG media must be 8-bit RGB or RGBA' };
  return { type };
}

const signatures: readonly (readonly [string, MediaType])[] = [
  ['\xff\xd8\xff', 'image/jpeg'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['%PDF-', 'application/pdf'],
];
const mp4Brands = 'isom,iso2,iso4,iso5,iso6,mp41,mp42,avc1,dash,mmp4,MSNV,XAVC,cmfc,M4V ,M4VH,M4VP'.split(',');

function mediaTypeOf(bytes: Buffer): MediaType | undefined {
  const head = bytes.toString('latin1', 0, 12);
  for (const [signature, type] of signatures) if (head.startsWith(signature)) return type;
  // ISO base media begins with a box `ftyp`, whose first four letters are the brand.
  if (head.slice(4, 8) !== 'ftyp') return undefined;
  const brand = head.slice(8, 12);
  if (brand.startsWith('3gp')) return 'video/3gpp';
  return mp4Brands.includes(brand) ? 'video/mp4' : undefined;
}

/** Tells whether bit depth is 8 and colour type 2 or 6, if the header chunk is there. */
function isEightBitColour(png: Buffer): boolean {
  if (png.toString('latin1', 12, 16) !== 'IHDR') return true;
  return png[24] === 8 && (png[25] === 2 || png[25] === 6);
}
