import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { enumOf, isPart, type Part } from '../../http/json-part.ts';
import { at, type CheckedValue, fault, onlyKeys, requiredText, type TemplateDraft } from './draft.ts';
import { type HeaderFormat, isMediaFormat } from './header-formats.ts';
import { checkExamples, checkPlaces, checkVariables, countEmoji } from './variables.ts';

const headerMaxLength = 60;
const footerMaxLength = 60;
const maxEmoji = 10;

/** Checks a header (platform reference, 3.3). `formats` are those that its place allows. */
export function checkHeader(
  header: Part,
  formats: readonly HeaderFormat[],
  judged: CheckedValue,
  draft: Pick<TemplateDraft, 'fileAttached'>,
): void {
  const given = enumOf(header['format']);
  const format = formats.find((each) => each === given);
  if (format === undefined) {
    fault(at(judged, 'format'), `one of ${formats.join(', ')}, received ${jsonExcerpt(header['format'])}`);
    return;
  }
  if (format === 'TEXT') checkTextHeader(header, judged);
  else if (isMediaFormat(format)) checkMediaHeader(header, judged, draft.fileAttached);
  else onlyKeys(header, ['type', 'format'], judged);
}

function checkTextHeader(header: Part, judged: CheckedValue): void {
  onlyKeys(header, ['type', 'format', 'text', 'example'], judged);
  const text = requiredText(header, 'text', headerMaxLength, judged);
  if (text === undefined) return;
  const place = at(judged, 'text');
  if (/[\r\n]/.test(text)) fault(place, 'no line breaks in a header');
  if (/[*~`]|_\S+_/.test(text)) fault(place, 'no formatting characters in a header');
  if (countEmoji(text) > 0) fault(place, 'no emoji in a header');
  // The platform decides whether a variable may open or close a header.
  const count = checkVariables(text, place);
  if (count > 1) fault(place, `at most one variable in a header, received ${count}`);
  checkExamples(header, 'header_text', Math.min(count, 1), judged);
}

/** A media header has exactly one source (D18): a handle in either spelling, a URL, or the request's file. */
function checkMediaHeader(header: Part, judged: CheckedValue, fileAttached: boolean): void {
  onlyKeys(header, ['type', 'format', 'example', 'header_handle', 'header_source'], judged);
  const { example } = header;
  if (isPart(example)) onlyKeys(example, ['header_handle'], at(judged, 'example'));
  const handles = isPart(example) ? example['header_handle'] : undefined;
  const sources = [
    handles === undefined ? undefined : 'example.header_handle',
    header['header_handle'] === undefined ? undefined : 'header_handle',
    header['header_source'] === undefined ? undefined : 'header_source',
    fileAttached ? 'file' : undefined,
  ].filter((source) => source !== undefined);
  if (sources.length === 0) fault(judged, 'a media header needs header_source, header_handle or a file');
  if (sources.length > 1) fault(judged, `one source of media, received ${sources.join(' and ')}`);
  if (handles !== undefined && !(Array.isArray(handles) && handles.length === 1 && isHandle(handles[0]))) {
    fault(at(at(judged, 'example'), 'header_handle'), `a list of one handle, received ${jsonExcerpt(handles)}`);
  }
  for (const key of ['header_handle', 'header_source']) {
    const given = header[key];
    if (given !== undefined && !isHandle(given))
      fault(at(judged, key), `a text that is not empty, received ${jsonExcerpt(given)}`);
  }
}

function isHandle(value: unknown): boolean {
  return typeof value === 'string' && value.trim() !== '';
}

/** Checks a body (platform reference, 3.4). */
export function checkBody(body: Part, maxLength: number, judged: CheckedValue): void {
  onlyKeys(body, ['type', 'text', 'example'], judged);
  const text = requiredText(body, 'text', maxLength, judged);
  if (text === undefined) return;
  const place = at(judged, 'text');
  if (/\n\s*\n\s*\n/.test(text)) fault(place, 'at most two line breaks in a row');
  const emojiCount = countEmoji(text);
  if (emojiCount > maxEmoji) fault(place, `at most ${maxEmoji} emoji, received ${emojiCount}`);
  const count = checkVariables(text, place);
  checkPlaces(text, place);
  if (count > 0 && !/[\p{L}\p{N}]/u.test(text.replace(/\{\{[^{}]*\}\}/g, ''))) {
    fault(place, 'a text must not consist of variables only');
  }
  checkExamples(body, 'body_text', count, judged);
}

/** Checks a footer (platform reference, 3.5). */
export function checkFooter(footer: Part, judged: CheckedValue): void {
  onlyKeys(footer, ['type', 'text'], judged);
  const text = requiredText(footer, 'text', footerMaxLength, judged);
  if (text !== undefined && /\{\{|\}\}/.test(text)) fault(at(judged, 'text'), 'no variables in a footer');
}
