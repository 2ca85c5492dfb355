/*
 * What the reference reads of the service's OpenAPI document. The document is our own, made from the schemas; what is not
 * understood here is left out.
 */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly description?: string;
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

interface Content {
  readonly [type: string]: { readonly schema?: Schema; readonly examples?: Examples };
}

export interface Answer {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
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

export interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly description?: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
}

export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

export function operationsOf({ paths }: Document): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([method]) => methods.includes(method))
      .map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

/** What a reference leads to within the document; the thing itself when it is none. */
export function resolved<T extends { readonly $ref?: string }>(document: Document, thing: T): T {
  if (thing.$ref === undefined) return thing;
  const keys = thing.$ref.replace(/^#\//, '').split('/');
  const found = keys.reduce<unknown>((holder, key) => {
    const name = key.replaceAll('~1', '/').replaceAll('~0', '~');
    return typeof holder === 'object' && holder !== null ? (holder as Record<string, unknown>)[name] : undefined;
  }, document);
  return (found ?? thing) as T;
}

/** The first example as a text for an input; empty when there is none. */
export function exampleOf(examples: Examples | undefined): string {
  const value = Object.values(examples ?? {})[0]?.value;
  if (value === undefined) return '';
  if (Array.isArray(value)) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value);
}

/** What may stand there, in a few words: `"template"`, `text[]`, `{name, language}`. */
export function shapeOf(document: Document, schema: Schema | undefined, depth = 0): string {
  if (schema === undefined) return '';
  const it = resolved(document, schema);
  if (it.const !== undefined) return JSON.stringify(it.const);
  if (it.enum !== undefined) return it.enum.map((each) => JSON.stringify(each)).join(' | ');
  const choices = it.anyOf ?? it.oneOf;
  if (choices !== undefined) return [...new Set(choices.map((each) => shapeOf(document, each, depth)))].join(' | ');
  if (it.items !== undefined) return `${shapeOf(document, it.items, depth)}[]`;
  if (it.properties === undefined) return [it.type ?? 'anything'].flat().join(' | ');
  if (depth >= 5) return '{…}';
  const indent = '  '.repeat(depth + 1);
  const lines = Object.entries(it.properties).map(([name, property]) => {
    const mark = it.required?.includes(name) === true ? '' : '?';
    return `${indent}${name}${mark}: ${shapeOf(document, property, depth + 1)}`;
  });
  return `{\n${lines.join('\n')}\n${'  '.repeat(depth)}}`;
}
