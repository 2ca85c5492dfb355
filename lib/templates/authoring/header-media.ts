import { enumOf } from '../../http/json-part.ts';
import { type Fault, invalid, Refusal, refuseFaults } from '../../http/refusal.ts';
import { atPlatform } from '../../platform/refusals.ts';
import { isMediaFormat, type MediaFormat } from '../rules/header-formats.ts';
import { headersOf, type PlacedHeader, urlOfMedia, withHeaders } from '../rules/headers.ts';
import { checkMedia, mediaLimits } from '../rules/media.ts';
import type { RequestTime } from './request-time.ts';

export interface MediaFile {
  readonly bytes: Buffer;
  readonly contentType?: string;
  readonly name: string;
}

export interface MediaPorts {
  /**
   * Fetches a public URL. Refuses with 400 one that is not public, too large or too slow; `path` names it in refusals.
   */
  readonly fetchPublic: (
    url: string,
    options: { readonly path: string; readonly maxBytes: number; readonly totalMs: number },
  ) => Promise<{ readonly bytes: Buffer; readonly contentType?: string }>;
  /** Uploads a file for an example and returns its handle; throws `PlatformFailure`. */
  readonly uploadMedia: (credentialName: string, file: UploadedFile, timeLeftMs: () => number) => Promise<string>;
}

interface UploadedFile {
  readonly bytes: Buffer;
  readonly type: string;
  readonly name: string;
}

export interface HeaderMedia {
  readonly components: readonly unknown[];
  /** The request's file is for the header of the message, never for a card's. */
  readonly file?: MediaFile | undefined;
  readonly credential: string;
  readonly time: Pick<RequestTime, 'forMedia'>;
}

const fetchMs = 8_000;

/**
 * Turns every URL of media and the request's file into a `header_handle`. It uploads only after all media are valid.
 * Refuses with 400 bad media by the key that has them, with 502 slow ones, and as the platform.
 */
export async function withMediaHandles(ports: MediaPorts, media: HeaderMedia): Promise<unknown[]> {
  const { components, credential, time } = media;
  const judging = headersOf(components, 'components').map(async (placed) => {
    const file = await judgedFile(ports, media, placed);
    return file === undefined ? [] : [{ path: placed.path, file }];
  });
  const files = (await allOrEveryFault(judging)).flat();
  const uploading = files.map(async ({ path, file }) => {
    const handle = await atPlatform(() => ports.uploadMedia(credential, file, time.forMedia));
    return [path, handle] as const;
  });
  const handles = new Map(await Promise.all(uploading));
  return withHeaders(components, 'components', ({ header, path }) => {
    const { header_source: _, ...rest } = header;
    return handles.has(path) ? { ...rest, header_handle: handles.get(path) } : header;
  });
}

/** Joins refusals with 400 into one, with every fault and its path. */
async function allOrEveryFault<T>(work: readonly Promise<T>[]): Promise<T[]> {
  const settled = await Promise.allSettled(work);
  const errors = settled.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : []));
  const faults = errors.flatMap((error) => (error instanceof Refusal ? (error.details.errors ?? []) : []));
  const other = errors.find((error) => !(error instanceof Refusal && error.details.errors !== undefined));
  if (other !== undefined) throw other;
  refuseFaults(faults);
  return await Promise.all(work);
}

async function judgedFile(
  ports: MediaPorts,
  { file, time }: HeaderMedia,
  { header, path, card }: PlacedHeader,
): Promise<UploadedFile | undefined> {
  const format = enumOf(header['format']);
  if (!isMediaFormat(format)) return undefined;
  const source = urlOfMedia(header);
  if (source !== undefined) {
    const { url } = source;
    const place = `${path}.${source.key}`;
    const totalMs = Math.min(fetchMs, time.forMedia());
    const fetched = await ports.fetchPublic(url, { path: place, maxBytes: mediaLimits[format].maxBytes, totalMs });
    const name = new URL(url).pathname.split('/').at(-1) || 'file';
    return judged({ ...fetched, name }, format, place);
  }
  return file === undefined || card !== undefined ? undefined : judged(file, format, 'file');
}

function judged(file: MediaFile, format: MediaFormat, place: string): UploadedFile {
  const verdict = checkMedia(format, file);
  if ('fault' in verdict) throw invalid(place, verdict.fault);
  return { bytes: file.bytes, type: verdict.type, name: file.name };
}

/** Returns the faults of the request's file alone, before all other media are fetched. */
export function fileFaults(components: readonly unknown[], file: MediaFile | undefined): Fault[] {
  if (file === undefined) return [];
  return headersOf(components, 'components').flatMap(({ header, card }) => {
    const format = enumOf(header['format']);
    if (card !== undefined || !isMediaFormat(format)) return [];
    const verdict = checkMedia(format, file);
    return 'fault' in verdict ? [{ path: 'file', message: verdict.fault }] : [];
  });
}
