/** Headers of these formats carry a file. */
export const mediaFormats = ['IMAGE', 'VIDEO', 'DOCUMENT', 'GIF'] as const;
/** Headers of these formats carry nothing in a definition. */
export const bareFormats = ['LOCATION', 'PRODUCT'] as const;
/** All formats of a template's HEADER, in documented order (platform reference, 3.3). */
const headerFormats = ['TEXT', ...mediaFormats, ...bareFormats] as const;

export type MediaFormat = (typeof mediaFormats)[number];
export type HeaderFormat = (typeof headerFormats)[number];

type HeaderPlace = 'MARKETING' | 'UTILITY' | 'AUTHENTICATION' | 'card';

const placesOf: Readonly<Record<HeaderFormat, readonly HeaderPlace[]>> = {
  TEXT: ['MARKETING', 'UTILITY'],
  IMAGE: ['MARKETING', 'UTILITY', 'card'],
  VIDEO: ['MARKETING', 'UTILITY', 'card'],
  DOCUMENT: ['MARKETING', 'UTILITY'],
  GIF: ['MARKETING'],
  LOCATION: ['MARKETING', 'UTILITY'],
  PRODUCT: ['MARKETING', 'card'],
};

/** Returns the formats that a category, or a card of a carousel, may have. */
export function headerFormatsOf(place: HeaderPlace): readonly HeaderFormat[] {
  return headerFormats.filter((format) => placesOf[format].includes(place));
}

export function isMediaFormat(format: string | undefined): format is MediaFormat {
  return mediaFormats.some((known) => known === format);
}
