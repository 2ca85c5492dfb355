import { managementError } from '../../errors.ts';
import type { UploadedMedium } from '../../uploads/upload-store.ts';
import type { Category, GivenPart } from '../definition.ts';
import { checkKeys, headerFormat, missingExample } from './refusals.ts';
import { checkExamples, checkText } from './text-rules.ts';

export interface HeaderRules {
  readonly where: string;
  readonly named: boolean;
  readonly formats: readonly string[];
  readonly mediumOf: (handle: string) => UploadedMedium | undefined;
}

const longestHeader = 60;
const longestGifBytes = 3.5 * 1_024 * 1_024;

const fileTypes: Readonly<Record<string, readonly string[]>> = {
  IMAGE: ['image/jpeg', 'image/jpg', 'image/png'],
  VIDEO: ['video/mp4', 'video/3gpp'],
  GIF: ['video/mp4'],
  DOCUMENT: ['application/pdf'],
};

/** Returns the allowed header formats (3.2). */
export function headerFormatsOf(category: Category): readonly string[] {
  if (category === 'AUTHENTICATION') return [];
  const common = ['TEXT', 'IMAGE', 'VIDEO', 'DOCUMENT', 'LOCATION'];
  return category === 'UTILITY' ? common : [...common, 'GIF', 'PRODUCT'];
}

/** Checks a HEADER: text, a medium from a completed upload, a location or a product (3.3). */
export function checkHeader(rules: HeaderRules, header: GivenPart): void {
  const { where, formats } = rules;
  const format = header.format ?? '';
  if (!formats.includes(format)) {
    throw managementError(headerFormat, `${where}: the format must be one of ${formats.join(', ')}`);
  }
  if (format === 'TEXT') checkTextHeader(rules, header);
  else if (Object.hasOwn(fileTypes, format)) checkMediaHeader(rules, header, format);
  else checkKeys(where, header, ['type', 'format']);
}

function checkTextHeader(rules: HeaderRules, header: GivenPart): void {
  const { where } = rules;
  checkKeys(where, header, ['type', 'format', 'text', 'example']);
  const place = { where, named: rules.named, mostCharacters: longestHeader, subcode: headerFormat };
  const text = header.text ?? '';
  const variables = checkText(place, text);
  if (variables.length > 1) throw managementError(headerFormat, `${where}: at most one variable`);
  if (/[\n\r*~`]|_\S+_|\p{RGI_Emoji}/v.test(text.replaceAll(/\{\{[^{}]*\}\}/g, ''))) {
    throw managementError(headerFormat, `${where}: line breaks, formatting characters and emoji aren't allowed`);
  }
  const example = header.example;
  checkExamples(place, variables, { positional: example?.header_text, named: example?.header_text_named_params });
}

function checkMediaHeader(rules: HeaderRules, header: GivenPart, format: string): void {
  const { where } = rules;
  checkKeys(where, header, ['type', 'format', 'example']);
  const [handle, ...more] = header.example?.header_handle ?? [];
  if (handle === undefined || more.length > 0) throw missingExample(where);
  const medium = rules.mediumOf(handle);
  if (medium === undefined) {
    throw managementError(headerFormat, `${where}: the handle is not one of a completed upload`);
  }
  if (fileTypes[format]?.includes(medium.fileType) !== true) {
    throw managementError(headerFormat, `${where}: ${medium.fileType} cannot be shown as ${format}`);
  }
  if (format === 'GIF' && medium.bytes > longestGifBytes) {
    throw managementError(headerFormat, `${where}: a GIF may have at most 3.5 MB`);
  }
}
