import { type Document, resolved, type Schema } from './openapi.ts';

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Returns the fields of an object or of an array's items; `allOf` merges them. */
export function fieldsOf(document: Document, schema: Schema): readonly Field[] {
  const it = resolved(document, schema);
  if (it.items !== undefined) return fieldsOf(document, it.items);
  const own = Object.entries(it.properties ?? {}).map(([name, each]) => ({
    name,
    schema: each,
    isRequired: it.required?.includes(name) === true,
  }));
  return [...own, ...(it.allOf ?? []).flatMap((each) => fieldsOf(document, each))];
}

/** Returns alternatives with fields of their own; empty where one line is enough. */
export function choicesOf(document: Document, schema: Schema): readonly Schema[] {
  const it = resolved(document, schema);
  if (it.items !== undefined) return choicesOf(document, it.items);
  const choices = it.anyOf ?? it.oneOf ?? [];
  return choices.some((each) => fieldsOf(document, each).length > 0) ? choices : [];
}

/** Returns for example `string`, `array of integer`, `"MESSAGING"`, `image_url or video_url`. */
export function typeOf(document: Document, schema: Schema): string {
  const it = resolved(document, schema);
  if (it.const !== undefined) return JSON.stringify(it.const);
  if (it.enum !== undefined) return it.enum.map((each) => JSON.stringify(each)).join(' or ');
  const choices = it.anyOf ?? it.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((each) => typeOf(document, each)))].join(' or ');
  if (it.items !== undefined) return `array of ${typeOf(document, it.items)}`;
  if (it.type === undefined && (it.properties !== undefined || it.allOf !== undefined)) return 'object';
  return [it.type ?? 'anything'].flat().join(' or ');
}

/** Returns the allowed values; undefined for an open type. */
export function valuesOf(document: Document, schema: Schema | undefined): readonly string[] | undefined {
  const it = schema === undefined ? {} : resolved(document, schema);
  if (it.const !== undefined) return [String(it.const)];
  if (it.type === 'boolean') return ['true', 'false'];
  return it.enum?.map(String);
}

/** Tells limits in words, those of alternatives included. */
export function limitsOf(document: Document, schema: Schema): readonly string[] {
  const it = resolved(document, schema);
  const between = (least: number | undefined, most: number | undefined, what: string) => {
    const largest = most === Number.MAX_SAFE_INTEGER ? undefined : most;
    if (least === undefined && largest === undefined) return [];
    if (largest === undefined) return [`at least ${least}${what}`];
    return [least === undefined ? `at most ${largest}${what}` : `${least} to ${largest}${what}`];
  };
  return [
    ...(it.format === undefined ? [] : [it.format]),
    ...between(it.minimum, it.maximum, ''),
    ...between(it.minLength, it.maxLength, ' characters'),
    ...between(it.minItems, it.maxItems, ' entries'),
    ...(it.pattern === undefined ? [] : [it.pattern === '\\S' ? 'not empty' : it.pattern]),
    ...(it.items === undefined ? [] : limitsOf(document, it.items).map((each) => `each ${each}`)),
    ...(it.anyOf ?? []).flatMap((each) => limitsOf(document, each)),
  ];
}
