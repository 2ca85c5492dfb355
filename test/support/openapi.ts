import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { documentedPath } from '../../infra/openapi/paths.ts';
import type { RouteEntry } from '../../infra/routes.ts';
import { anyLetterCase, othersMayCome } from '../../lib/http/documented.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly schema: Readonly<Record<string, unknown>>;
}

export type Content = Readonly<Record<string, unknown>>;

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, object>>;
}

const text = readFileSync(join(import.meta.dirname, '..', '..', 'functions', 'openapi.json'), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
export const openApi: any = JSON.parse(text);

const ajv = new Ajv2020({ strict: false, allErrors: true, allowUnionTypes: true });
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i);
ajv.addFormat('uri', (value) => URL.canParse(value));
// Answers are checked more strictly than the document, which allows unknown fields for later versions: the service
// sends only documented fields (D48).
ajv.addSchema(rewritten(openApi, closed), 'answers.json');
// Requests are checked as the service reads them: words in any letter case, and unknown ones where the document marks
// it.
ajv.addSchema(rewritten(openApi, asRead), 'requests.json');

type Schema = Readonly<Record<string, unknown>>;

function rewritten(value: unknown, change: (schema: Schema) => Schema): object {
  const each = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(each);
    if (part === null || typeof part !== 'object') return part;
    return Object.fromEntries(Object.entries(change(part as Schema)).map(([key, inside]) => [key, each(inside)]));
  };
  return each(value) as object;
}

function closed(schema: Schema): Schema {
  const isObject = [schema['type']].flat().includes('object') && schema['properties'] !== undefined;
  return isObject ? { additionalProperties: false, ...schema } : schema;
}

function asRead({ enum: words, ...schema }: Schema): Schema {
  if (schema[othersMayCome] === true || words === undefined) return schema;
  if (schema[anyLetterCase] !== true || !Array.isArray(words)) return { enum: words, ...schema };
  const either = (letter: string) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`;
  return { ...schema, pattern: `^(?:${words.map((word) => word.replace(/[a-z]/gi, either)).join('|')})$` };
}

/** Returns the operation of a route in the document, with its place. */
export function operationOf(route: RouteEntry): { readonly operation: Operation; readonly pointer: string } {
  const path = documentedPath(route.path);
  const method = route.method.toLowerCase();
  const operation = openApi.paths[path]?.[method];
  if (operation === undefined) throw new Error(`functions/openapi.json does not have ${route.method} ${path}`);
  return { operation, pointer: pointerTo('paths', path, method) };
}

const validators = new Map<string, ValidateFunction>();

/** Returns the faults of a value in an answer or a request, by the schema at a place of the document. */
export function schemaFaults(kind: 'answers' | 'requests', pointer: string, value: unknown, what: string): string[] {
  const place = `${kind}.json${pointer}`;
  const validate = validators.get(place) ?? ajv.compile({ $ref: place });
  validators.set(place, validate);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what} ${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

/** Returns the differences between the components of a creation and the document. */
export function undocumented(category: string, components: readonly unknown[]): string[] {
  const request = { name: 'a', language: 'es', category, components };
  return schemaFaults('requests', '#/components/schemas/CreateTemplateRequest', request, 'creation');
}

/** Returns the JSON Pointer to a place of the document. */
export function pointerTo(...names: readonly string[]): string {
  return `#/${names.map(escaped).join('/')}`;
}

export function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
