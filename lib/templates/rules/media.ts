const megabyte = 1_048_576;

interface MediaLimit {
  readonly types: readonly string[];
  readonly maxBytes: number;
}

/** What the platform takes for the example of a header (platform reference, 3.3 and 5.3). */
const limits: Readonly<Record<string, MediaLimit>> = {
  IMAGE: { types: ['image/jpeg', 'image/png'], maxBytes: 5 * megabyte },
  VIDEO: { types: ['video/mp4', 'video/3gpp'], maxBytes: 16 * megabyte },
  DOCUMENT: { types: ['application/pdf'], maxBytes: 100 * megabyte },
  GIF: { types: ['video/mp4'], maxBytes: 3.5 * megabyte },
};

/** Most bytes of a file for a header of that format. */
export function mediaMaxBytes(format: string): number {
  return limits[format]?.maxBytes ?? 0;
}

/** What is wrong with a file for a header of that format, or undefined. */
export function mediaFault(
  format: string,
  file: { readonly contentType?: string; readonly byteLength: number },
): string | undefined {
  const { types, maxBytes } = limits[format] ?? { types: [], maxBytes: 0 };
  if (file.contentType === undefined || !types.includes(file.contentType)) {
    return `a file for ${format} must be ${types.join(' or ')}, received ${file.contentType || 'no type'}`;
  }
  if (file.byteLength === 0) return 'the file is empty';
  if (file.byteLength > maxBytes) return `a file for ${format} has at most ${maxBytes} bytes`;
  return undefined;
}
