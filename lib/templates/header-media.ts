import { invalid } from '../http/refusal.ts';
import { atPlatform } from '../platform/refusals.ts';
import { enumOf, isPart, type Part } from './rules/draft.ts';
import { judgeMedia, type MediaFormat, mediaLimits } from './rules/media.ts';

export interface MediaFile {
  readonly bytes: Buffer;
  readonly contentType?: string;
  readonly name: string;
}

export interface MediaPorts {
  /** Fetches a public URL; refuses with 400 what is not public, too large or too slow. `path` names it in refusals. */
  readonly fetchPublic: (
    url: string,
    options: { readonly path: string; readonly maxBytes: number; readonly totalMs: number },
  ) => Promise<{ readonly bytes: Buffer; readonly contentType?: string }>;
  /** Uploads a file for an example and returns its handle; throws `PlatformFailure`. */
  readonly uploadMedia: (
    credentialName: string,
    file: { readonly bytes: Buffer; readonly type: string; readonly name: string },
  ) => Promise<string>;
}

export interface HeaderMedia {
  readonly components: readonly unknown[];
  /** The file that came with the request, for the header of the message. */
  readonly file?: MediaFile | undefined;
  readonly credential: string;
}

const fetchMs = 8_000;

/**
 * Checked components in which every `header_source` and the request's file has become a `header_handle`: fetched, judged by
 * type and size, uploaded. Refuses with 400 media that will not do, and as the platform does.
 */
export async function withMediaHandles(ports: MediaPorts, media: HeaderMedia): Promise<unknown[]> {
  return Promise.all(
    media.components.map((component, index) =>
      withHandle(ports, { ...media, component, path: `components[${index}]` }),
    ),
  );
}

interface PlacedComponent extends HeaderMedia {
  readonly component: unknown;
  readonly path: string;
}

async function withHandle(ports: MediaPorts, placed: PlacedComponent): Promise<unknown> {
  const { component, path, file } = placed;
  if (!isPart(component)) return component;
  if (Array.isArray(component['cards'])) return withCardHandles(ports, placed, component);
  const format = enumOf(component['format']);
  if (enumOf(component['type']) !== 'HEADER' || !isMediaFormat(format)) return component;
  const { header_source: source, ...header } = component;
  if (typeof source === 'string') {
    const place = `${path}.header_source`;
    const fetched = await ports.fetchPublic(source, {
      path: place,
      maxBytes: mediaLimits[format].maxBytes,
      totalMs: fetchMs,
    });
    const name = new URL(source).pathname.split('/').at(-1) || 'file';
    return { ...header, header_handle: await handleOf(ports, placed, { ...fetched, format, name, place }) };
  }
  if (file === undefined) return component;
  return { ...header, header_handle: await handleOf(ports, placed, { ...file, format, place: 'file' }) };
}

/** The request's file is for the header of the message, never for a card's. */
async function withCardHandles(ports: MediaPorts, placed: PlacedComponent, carousel: Part): Promise<Part> {
  const cards: unknown[] = Array.isArray(carousel['cards']) ? carousel['cards'] : [];
  const resolved = cards.map(async (card, cardIndex) => {
    if (!isPart(card) || !Array.isArray(card['components'])) return card;
    const parts = card['components'].map((component: unknown, index) => {
      const path = `${placed.path}.cards[${cardIndex}].components[${index}]`;
      return withHandle(ports, { ...placed, component, path, file: undefined });
    });
    return { ...card, components: await Promise.all(parts) };
  });
  return { ...carousel, cards: await Promise.all(resolved) };
}

interface JudgedFile extends MediaFile {
  readonly format: MediaFormat;
  readonly place: string;
}

async function handleOf(ports: MediaPorts, { credential }: HeaderMedia, file: JudgedFile): Promise<string> {
  const { bytes, name, format, place } = file;
  const judged = judgeMedia(format, file);
  if ('fault' in judged) throw invalid(place, judged.fault);
  return atPlatform(() => ports.uploadMedia(credential, { bytes, type: judged.type, name }));
}

function isMediaFormat(format: string | undefined): format is MediaFormat {
  return format !== undefined && Object.hasOwn(mediaLimits, format);
}
