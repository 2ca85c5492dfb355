import { unrecognizedField } from '../../http/closed-object.ts';
import { didYouMean } from '../../http/closest-name.ts';
import type { FaultList } from '../../http/fault-list.ts';
import { jsonExcerpt } from '../../http/json-excerpt.ts';
import type { Part } from '../../http/json-part.ts';
import { clip } from '../../http/parse.ts';
import { templateCategories } from '../../platform/enums.ts';

export const categories = templateCategories;
export type Category = (typeof categories)[number];

/** `components` are unchecked. */
export interface TemplateDraft {
  readonly category: Category;
  readonly components: readonly unknown[];
  /** The request has a media file (multipart) for the header. */
  readonly fileAttached: boolean;
  /** AUTHENTICATION has them beside the components (contract, POST /v1/templates/{did}). */
  readonly codeExpirationMinutes?: number;
  readonly addSecurityRecommendation?: boolean;
  /** An edit lists all that the template shall have, so a creation's defaults do not apply. */
  readonly editing?: true;
}

/** A value under check has its path, and the list of faults. */
export interface CheckedValue {
  readonly path: string;
  readonly faults: FaultList;
  /** Removes an unknown key from a part and returns true; any other unknown key is a fault (D6). */
  readonly leaveOut?: (part: Part, key: string) => boolean;
}

export function at(judged: CheckedValue, key: string | number): CheckedValue {
  const { path } = judged;
  const step = typeof key === 'number' ? `[${key}]` : `${path === '' ? '' : '.'}${key}`;
  return { ...judged, path: `${path}${step}` };
}

export function fault({ path, faults }: CheckedValue, message: string): void {
  faults.add({ path, message });
}

/**
 * Returns a required text of at most `maxLength` code points, undefined unless it is a text. Otherwise notes the fault.
 */
export function requiredText(part: Part, key: string, maxLength: number, judged: CheckedValue): string | undefined {
  const value = part[key];
  if (typeof value !== 'string' || value.trim() === '') {
    fault(at(judged, key), `a text is required, received ${jsonExcerpt(value)}`);
    return undefined;
  }
  const length = [...value].length;
  if (length > maxLength) fault(at(judged, key), `at most ${maxLength} characters, received ${length}`);
  return value;
}

/** Notes every unknown key of a part, and the known one that it probably means (D6). */
export function onlyKeys(part: Part, known: readonly string[], judged: CheckedValue): void {
  for (const key of Object.keys(part)) {
    if (known.includes(key) || judged.leaveOut?.(part, key) === true) continue;
    // A full list only counts, so the costly comparison is skipped.
    const hint = judged.faults.isFull ? '' : didYouMean(key, known);
    const name = clip(key);
    fault(at(judged, name), `${unrecognizedField}: ${name}${hint}`);
  }
}
