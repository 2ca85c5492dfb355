/* The reference reads these parts of our OpenAPI document and ignores others. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly 'x-refusals'?: Readonly<Record<string, Omit<RefusalText, 'code'>>>;
}

export interface RefusalText {
  readonly code: string;
  readonly status: number;
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
}

interface Examples {
  readonly [name: string]: { readonly value?: unknown };
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description?: string;
  readonly required?: boolean;
  readonly schema?: Schema;
  readonly examples?: Examples;
}

export interface Content {
  readonly [type: string]: { readonly schema?: Schema; readonly examples?: Examples };
}

export interface Header {
  readonly $ref?: string;
  readonly description?: string;
}

export interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Content;
  readonly 'x-codes'?: readonly string[];
}

interface OperationObject {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses?: Readonly<Record<string, Answer>>;
}

type PathItems = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: PathItems;
  readonly webhooks?: PathItems;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** An event has its type as `path`. */
export interface Operation extends OperationObject {
  readonly kind: 'route' | 'event';
  readonly method: string;
  readonly path: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf({ paths, webhooks = {} }: Document): readonly Operation[] {
  return [...operationsIn(paths, 'route'), ...operationsIn(webhooks, 'event')];
}

function operationsIn(items: PathItems, kind: Operation['kind']): readonly Operation[] {
  return Object.entries(items).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ ...operation, kind, method: method.toUpperCase(), path })),
  );
}

/** Resolves a `$ref` within the document; otherwise returns the object itself. */
export function resolved<T extends { readonly $ref?: string }>(document: Document, thing: T): T {
  if (thing.$ref === undefined) return thing;
  const keys = thing.$ref.replace(/^#\//, '').split('/');
  const found = keys.reduce<unknown>((holder, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;
  }, document);
  return (found ?? thing) as T;
}

/** Returns undefined for text that is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the named example, or the first, as text for an input; empty without one. */
export function exampleOf(examples: Examples | undefined, name?: string): string {
  const value = (name === undefined ? Object.values(examples ?? {})[0] : examples?.[name])?.value;
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** Returns refusals of the service, or only those of an answer. */
export function refusalsOf(document: Document, answer?: Answer): readonly RefusalText[] {
  const texts = document.components?.schemas?.['RefusalCode']?.['x-refusals'] ?? {};
  const all = Object.entries(texts).map(([code, text]) => ({ code, ...text }));
  return answer === undefined ? all : all.filter(({ code }) => answer['x-codes']?.includes(code));
}

/** Returns the search text of a route: words, path, parameters, fields and codes. */
export function searchTextOf(document: Document, operation: Operation): string {
  const { method, path, operationId, summary, description, tags = [], parameters = [], responses = {} } = operation;
  const codes = Object.values(responses).flatMap((answer) => refusalsOf(document, resolved(document, answer)));
  const bodies = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
  const words = [
    ...[method, path, operationId, summary, description, ...tags],
    ...parameters.map(({ name }) => name),
    ...codes.map(({ code }) => code),
    ...bodies.flatMap((schema) => namesIn(document, schema)),
  ];
  return words.join(' ').toLowerCase();
}

/** Collects the names of all fields, nested ones included; a recursive schema is followed once. */
function namesIn(document: Document, schema: Schema | undefined, followed: readonly string[] = []): readonly string[] {
  if (schema === undefined || (schema.$ref !== undefined && followed.includes(schema.$ref))) return [];
  const through = schema.$ref === undefined ? followed : [...followed, schema.$ref];
  const it = resolved(document, schema);
  const properties = Object.values(it.properties ?? {});
  const inside = [...properties, it.items, ...(it.anyOf ?? []), ...(it.oneOf ?? []), ...(it.allOf ?? [])];
  return [...Object.keys(it.properties ?? {}), ...inside.flatMap((each) => namesIn(document, each, through))];
}
