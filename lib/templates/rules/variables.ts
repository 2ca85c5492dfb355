import { jsonExcerpt } from '../../http/json-excerpt.ts';
import { isPart, type Part } from '../../http/json-part.ts';
import { clip } from '../../http/parse.ts';
import { at, type CheckedValue, fault, onlyKeys } from './draft.ts';

/**
 * Checks the positional variables of a text (platform reference, 3.10): numbered from 1 without a gap. Returns the
 * number of values.
 */
export function checkVariables(text: string, judged: CheckedValue): number {
  const found = [...text.matchAll(/\{\{([^{}]*)\}\}/g)];
  const names = found.map(([, name = '']) => name);
  if (text.replace(/\{\{[^{}]*\}\}/g, '').match(/\{\{|\}\}/)) fault(judged, 'braces of a variable are not closed');
  const named = names.filter((name) => !/^[1-9]\d{0,2}$/.test(name));
  if (named.length > 0) {
    fault(
      judged,
      `variables are numbers ({{1}}, {{2}}); named ones are not supported, received {{${clip(named[0] ?? '')}}}`,
    );
    return 0;
  }
  const numbers = new Set(names.map(Number));
  for (let expected = 1; expected <= numbers.size; expected += 1) {
    if (!numbers.has(expected)) {
      fault(judged, `variables must be numbered from {{1}} without a gap, {{${expected}}} is missing`);
      break;
    }
  }
  return numbers.size;
}

/** A body's variables stand neither first nor last, and never side by side (3.10). */
export function checkPlaces(text: string, judged: CheckedValue): void {
  if (/^\s*\{\{[^{}]*\}\}/.test(text) || /\{\{[^{}]*\}\}\s*$/.test(text)) {
    fault(judged, 'a variable must not open or close the text');
  }
  if (/\}\}\s*\{\{/.test(text)) fault(judged, 'there must be text between two variables');
}

/**
 * Under `key` alone, an example has one non-empty text for each of `count` variables, and nothing without variables.
 */
export function checkExamples(part: Part, key: 'header_text' | 'body_text', count: number, judged: CheckedValue): void {
  const { example } = part;
  const place = at(judged, 'example');
  if (example !== undefined && !isPart(example)) {
    fault(place, `an object, received ${jsonExcerpt(example)}`);
    return;
  }
  if (example !== undefined) onlyKeys(example, [key], place);
  const values = key === 'body_text' ? bodyExamples(example) : example?.[key];
  if (count === 0) {
    if (values !== undefined) fault(at(place, key), 'a text without variables takes no example');
    return;
  }
  checkValues(values, count, at(place, key));
}

function checkValues(values: unknown, count: number, judged: CheckedValue): void {
  const given = Array.isArray(values) ? values : [];
  if (given.length !== count) {
    fault(judged, `one example for each variable: expected ${count}, received ${given.length}`);
  }
  given.forEach((value, index) => {
    if (typeof value !== 'string' || value.trim() === '')
      fault(at(judged, index), `a text, received ${jsonExcerpt(value)}`);
  });
}

/** Returns the examples of a body: a list, or a list of one list, as the platform spells it. */
export function bodyExamples(example: unknown): unknown {
  const rows = isPart(example) ? example['body_text'] : undefined;
  return Array.isArray(rows) && rows.length === 1 && Array.isArray(rows[0]) ? rows[0] : rows;
}

/** Counts emoji as a reader does: a family, a flag or a keycap is one, a sign such as ® is none. */
export function countEmoji(text: string): number {
  return text.match(/\p{RGI_Emoji}/gv)?.length ?? 0;
}
