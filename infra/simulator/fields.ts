import { graphError } from './errors.ts';

export interface NodeShape {
  /** The node type's name in error texts. */
  readonly type: string;
  readonly known: readonly string[];
  readonly byDefault: readonly string[];
}

export type NodeFields = Readonly<Record<string, unknown>>;

/**
 * Returns the function that reduces a node to the fields asked for (`name,quality_score{score}`), `id` always among
 * them. A field that a node does not have is left out; a field that its type does not know is refused with code 100.
 */
export function selection(text: string | null, shape: NodeShape): (node: NodeFields) => NodeFields {
  const asked = text === null || text.trim() === '' ? shape.byDefault.map(plain) : splitFields(text);
  for (const field of asked) {
    if (shape.known.includes(field.name)) continue;
    throw graphError(100, `(#100) Tried accessing nonexisting field (${field.name}) on node type (${shape.type})`);
  }
  const wanted = asked.some((field) => field.name === 'id') ? asked : [...asked, plain('id')];
  return (node) =>
    Object.fromEntries(
      wanted.flatMap((field) => {
        const value = node[field.name];
        return value === undefined ? [] : [[field.name, reduced(value, field.subfields)]];
      }),
    );
}

interface Field {
  readonly name: string;
  readonly subfields?: readonly string[];
}

function plain(name: string): Field {
  return { name };
}

function splitFields(text: string): readonly Field[] {
  const fields = text.match(/[^,{}\s]+(?:\s*\{[^{}]*\})?/g) ?? [];
  return fields.map((field) => {
    const [name = '', subfields] = field.split('{');
    if (subfields === undefined) return { name: name.trim() };
    const names = subfields
      .replace('}', '')
      .split(',')
      .map((subfield) => subfield.trim());
    return { name: name.trim(), subfields: names };
  });
}

function reduced(value: unknown, subfields: readonly string[] | undefined): unknown {
  if (subfields === undefined || typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => subfields.includes(name)));
}
