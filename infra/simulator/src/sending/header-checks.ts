import { messagingError } from '../errors.ts';
import type { TemplateComponent } from '../templates/template.ts';
import type { SentParameter } from './message-body.ts';
import { checkTexts, countMismatch, formatMismatch } from './text-checks.ts';

export interface HeaderPlace {
  /** `header` has this prefix in the details: none, or `carousel card 1 `. */
  readonly where: string;
  readonly named: boolean;
  readonly catalogIds: readonly string[];
}

const longestTextHeader = 60;

/** Checks the values of a text, or the format's one medium, location or product. */
export function checkHeader(
  place: HeaderPlace,
  header: Pick<TemplateComponent, 'format' | 'text'> | undefined,
  parameters: readonly SentParameter[],
): void {
  const where = `${place.where}header`;
  const format = header?.format?.toUpperCase() ?? 'NONE';
  const [parameter] = parameters;
  if (format === 'TEXT') {
    checkTexts({ where, named: place.named, mostCharacters: longestTextHeader }, header?.text, parameters);
    return;
  }
  if (format === 'NONE') {
    if (parameter === undefined) return;
    if (parameter.type === 'text') throw countMismatch(where, parameters.length, 0);
    throw formatMismatch(where, 'NONE', parameter.type);
  }
  if (parameter === undefined) throw formatMismatch(where, format, 'UNKNOWN');
  if (parameter.type.toUpperCase() !== format) throw formatMismatch(where, format, parameter.type);
  if (parameters.length > 1) throw countMismatch(where, parameters.length, 1);
  checkValue(where, place.catalogIds, parameter);
}

function checkValue(where: string, catalogIds: readonly string[], parameter: SentParameter): void {
  if (parameter.type === 'image') checkMedia(where, parameter.image);
  if (parameter.type === 'video') checkMedia(where, parameter.video);
  if (parameter.type === 'gif') checkMedia(where, parameter.gif);
  if (parameter.type === 'document') checkMedia(where, parameter.document);
  if (parameter.type === 'location') checkLocation(where, parameter.location);
  if (parameter.type === 'product') {
    const { product_retailer_id: product, catalog_id: catalog } = parameter.product;
    if (product === '') throw messagingError(131008, `${where}: product_retailer_id is required`);
    if (!catalogIds.includes(catalog)) {
      throw messagingError(131009, `${where}: catalog (${catalog}) is not linked to the business account`);
    }
  }
}

function checkMedia(
  where: string,
  media: { readonly id?: string | undefined; readonly link?: string | undefined },
): void {
  if (media.id === undefined && media.link === undefined) {
    throw messagingError(131008, `${where}: either id or link is required`);
  }
  if (media.id !== undefined && media.link !== undefined) {
    throw messagingError(131009, `${where}: id and link exclude each other`);
  }
  if (media.id !== undefined && !/^\d{1,20}$/.test(media.id)) {
    throw messagingError(131009, `${where}: id is not a media id`);
  }
  if (media.link !== undefined && !isWebAddress(media.link)) {
    throw messagingError(131009, `${where}: link is not a valid URL`);
  }
}

function isWebAddress(link: string): boolean {
  return ['http:', 'https:'].includes(URL.parse(link)?.protocol ?? '');
}

function checkLocation(
  where: string,
  location: { readonly latitude: string | number; readonly longitude: string | number },
): void {
  const bounds = { latitude: 90, longitude: 180 } as const;
  for (const name of ['latitude', 'longitude'] as const) {
    const text = String(location[name]).trim();
    if (text === '') throw messagingError(131008, `${where}: ${name} is required`);
    if (!(Math.abs(Number(text)) <= bounds[name])) throw messagingError(131009, `${where}: ${name} is not valid`);
  }
}
