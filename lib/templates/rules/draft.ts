import { unrecognizedField } from '../../http/closed-object.ts';
import type { FaultList } from '../../http/fault-list.ts';
import type { Part } from '../../http/json-part.ts';
import { nearHint } from '../../http/near-name.ts';
import { clip } from '../../http/parse.ts';
import { shown } from '../../http/shown.ts';
import { templateCategories } from '../../platform/words.ts';

export const categories = templateCategories;
export type Category = (typeof categories)[number];

/** A template as a client wants it created or changed; `components` is whatever came. */
export interface TemplateDraft {
  readonly category: Category;
  readonly components: readonly unknown[];
  /** A media file came with the request (multipart), for the header. */
  readonly fileAttached: boolean;
  /** AUTHENTICATION: given beside the components (contract, POST /v1/templates/{did}). */
  readonly codeExpirationMinutes?: number;
  readonly addSecurityRecommendation?: boolean;
  /** An edit says all that is to be there: the defaults of a creation are none of it. */
  readonly editing?: true;
}

/** One value under judgement: its path, and where its faults go. */
export interface Judged {
  readonly path: string;
  readonly faults: FaultList;
  /** Takes keys that have no place in a part, and says whether it did; all others are faults (D6). */
  readonly leaveOut?: (part: Part, key: string) => boolean;
}

export function at(judged: Judged, key: string | number): Judged {
  const { path } = judged;
  const step = typeof key === 'number' ? `[${key}]` : `${path === '' ? '' : '.'}${key}`;
  return { ...judged, path: `${path}${step}` };
}

export function fault({ path, faults }: Judged, message: string): void {
  faults.add({ path, message });
}

/** A required text of at most `maxLength` characters (code points); undefined, with its fault noted, when it is not one. */
export function requiredText(part: Part, key: string, maxLength: number, judged: Judged): string | undefined {
  const value = part[key];
  if (typeof value !== 'string' || value.trim() === '') {
    fault(at(judged, key), `a text is required, received ${shown(value)}`);
    return undefined;
  }
  const length = [...value].length;
  if (length > maxLength) fault(at(judged, key), `at most ${maxLength} characters, received ${length}`);
  return value;
}

/** Notes every key of a part that has no place in it, and the one that it probably means (D6). */
export function onlyKeys(part: Part, known: readonly string[], judged: Judged): void {
  for (const key of Object.keys(part)) {
    if (known.includes(key) || judged.leaveOut?.(part, key) === true) continue;
    // Nobody reads what is only counted, and comparing costs time.
    const hint = judged.faults.isFull ? '' : nearHint(key, known);
    const name = clip(key);
    fault(at(judged, name), `${unrecognizedField}: ${name}${hint}`);
  }
}
