import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { documentedPath } from '../../infra/openapi/paths.ts';
import type { RouteEntry } from '../../infra/routes.ts';

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
/** The document of the interface as it is checked in. */
// biome-ignore lint/suspicious/noExplicitAny: JSON of many shapes
export const openApi: any = JSON.parse(text);

const ajv = new Ajv2020({ strict: false, allErrors: true, allowUnionTypes: true });
ajv.addFormat('date-time', /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i);
ajv.addFormat('uri', (value) => URL.canParse(value));
ajv.addSchema(openApi, 'openapi.json');

/** The operation of a route in the document, and where it stands. */
export function operationOf(route: RouteEntry): { readonly operation: Operation; readonly pointer: string } {
  const path = documentedPath(route.path);
  const method = route.method.toLowerCase();
  const operation = openApi.paths[path]?.[method];
  if (operation === undefined) throw new Error(`functions/openapi.json does not have ${route.method} ${path}`);
  return { operation, pointer: pointerTo('paths', path, method) };
}

const validators = new Map<string | object, ValidateFunction>();

/** What is wrong with a value by a schema, which is one of its own or stands at a place of the document. */
export function schemaFaults(schema: string | object, value: unknown, what: string): string[] {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = typeof schema === 'string' ? ajv.compile({ $ref: `openapi.json${schema}` }) : ajv.compile(schema);
    validators.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${what} ${instancePath}: ${message} ${JSON.stringify(params)}`,
  );
}

/** The JSON Pointer to a place of the document. */
export function pointerTo(...names: readonly string[]): string {
  return `#/${names.map(escaped).join('/')}`;
}

export function escaped(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
