import { graphError } from './errors.ts';

export interface NodeShape {
  /** Error texts name this type. */
  readonly type: string;
  readonly known: readonly string[];
  readonly byDefault: readonly string[];
}

export type NodeFields = Readonly<Record<string, unknown>>;

/** An edge lists other nodes: `phone_numbers.limit(5){id,verified_name}`. */
export class Edge {
  readonly list: (query: URLSearchParams) => unknown;

  constructor(list: (query: URLSearchParams) => unknown) {
    this.list = list;
  }
}

/**
 * Reduces a node to the requested fields (`name,quality_score{score}`) and `id`. Absent fields are left out; a field
 * unknown to the type is refused with code 100.
 */
export function selection(text: string | null, shape: NodeShape): (node: NodeFields) => NodeFields {
  const asked = text === null || text.trim() === '' ? shape.byDefault.map(plain) : fieldsOf(text);
  for (const field of asked) {
    if (shape.known.includes(field.name)) continue;
    throw graphError(100, `(#100) Tried accessing nonexisting field (${field.name}) on node type (${shape.type})`);
  }
  const wanted = asked.some((field) => field.name === 'id') ? asked : [...asked, plain('id')];
  return (node) =>
    Object.fromEntries(
      wanted.flatMap((field) => {
        const value = node[field.name];
        return value === undefined ? [] : [[field.name, reduced(value, field)]];
      }),
    );
}

interface Field {
  readonly name: string;
  /** The text within braces is unparsed. */
  readonly subfields?: string;
  readonly modifiers: readonly (readonly [string, string])[];
}

function plain(name: string): Field {
  return { name, modifiers: [] };
}

/** Splits at commas outside of braces and parentheses. */
function fieldsOf(text: string): readonly Field[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const character of text) {
    if ('{('.includes(character)) depth += 1;
    if ('})'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += character;
  }
  return [...parts, part].flatMap((one) => (one.trim() === '' ? [] : fieldOf(one.trim())));
}

function fieldOf(text: string): Field {
  const brace = text.indexOf('{');
  const [name = '', ...modifiers] = (brace === -1 ? text : text.slice(0, brace)).trim().split('.');
  const subfields = brace === -1 ? {} : { subfields: text.slice(brace + 1).replace(/\}\s*$/, '') };
  const parsed = modifiers.flatMap((modifier) => {
    const [, key, value] = /^(\w+)\((.*)\)$/.exec(modifier) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value] as const];
  });
  return { name, ...subfields, modifiers: parsed };
}

function reduced(value: unknown, { subfields, modifiers }: Field): unknown {
  if (value instanceof Edge) {
    const query = new URLSearchParams(Object.fromEntries(modifiers));
    if (subfields !== undefined) query.set('fields', subfields);
    return value.list(query);
  }
  if (subfields === undefined || typeof value !== 'object' || value === null) return value;
  const names = fieldsOf(subfields).map(({ name }) => name);
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}
