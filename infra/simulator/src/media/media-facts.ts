export interface MediaFacts {
  /** The kind of file is for example `PDF`. */
  readonly kind: string;
  readonly seconds?: number;
  readonly pages?: number;
}

/** Only the beginning of a larger file is read, because a request waits for it. */
const mostBytes = 8_000_000;

/** Returns the length of an MP4 film and the pages of a PDF, where the file has them uncompressed. */
export function mediaFacts({ type, bytes }: { readonly type: string; readonly bytes: Buffer }): MediaFacts {
  const kind = (type.split(';', 1)[0] ?? '').split('/').at(-1)?.split(/[.+-]/).at(-1) ?? '';
  const read = bytes.subarray(0, mostBytes);
  const seconds = type.startsWith('video/') ? secondsOf(read) : undefined;
  const pages = type.startsWith('application/pdf') ? pagesOf(read) : undefined;
  return { kind: kind.toUpperCase(), seconds, pages };
}

/** Reads the box `mvhd` (ISO 14496-12): units per second and total units. */
function secondsOf(bytes: Buffer): number | undefined {
  const at = bytes.indexOf('mvhd');
  if (at < 0 || bytes.length < at + 36) return undefined;
  const isLong = bytes[at + 4] === 1;
  const perSecond = bytes.readUInt32BE(at + (isLong ? 24 : 16));
  const units = isLong ? Number(bytes.readBigUInt64BE(at + 28)) : bytes.readUInt32BE(at + 20);
  return perSecond === 0 ? undefined : units / perSecond;
}

function pagesOf(bytes: Buffer): number | undefined {
  const pages = bytes.toString('latin1').match(/\/Type {0,8}\/Page(?![A-Za-z])/g)?.length ?? 0;
  return pages === 0 ? undefined : pages;
}
