import { toJsonSchema } from '@valibot/to-json-schema';
import * as v from 'valibot';

export type JsonSchema = { readonly [key: string]: unknown };

/** An answer is open, because a later version may add fields; a request is as closed as the service takes it. */
export type Direction = 'request' | 'answer';

export type NamedSchemas = Readonly<Record<string, v.GenericSchema>>;

/** JSON Schema can express these actions; the service alone checks all others. */
const toldActions: ReadonlySet<string> = new Set([
  ...['regex', 'min_length', 'max_length', 'non_empty', 'min_value', 'max_value', 'integer', 'safe_integer'],
  ...['iso_timestamp', 'url', 'description', 'title', 'metadata'],
]);

/** Converts the schemas of one direction; a named schema becomes a reference. */
export function jsonSchemas(named: NamedSchemas, direction: Direction) {
  const plain = plainSchemas(direction);
  const definitions = Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, plain(schema)]));
  const convert = (schema: v.GenericSchema): JsonSchema => {
    const {
      $schema: _,
      $defs,
      ...converted
    } = toJsonSchema(schema as never, {
      target: 'draft-2020-12',
      typeMode: 'input',
      definitions: definitions as never,
      overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
      overrideSchema: ({ valibotSchema, jsonSchema }) => {
        // An open object says so, because readers may take it for closed otherwise.
        if (valibotSchema.type === 'loose_object') return { ...jsonSchema, additionalProperties: true };
        // Generated clients look for a type beside a constant.
        if (valibotSchema.type === 'literal') return { ...jsonSchema, type: typeof jsonSchema.const as 'string' };
        return undefined;
      },
      overrideAction: ({ valibotAction, jsonSchema }) => {
        if (valibotAction.type !== 'safe_integer') return undefined;
        const { minimum, ...rest } = { ...jsonSchema, type: 'integer' as const };
        return { ...rest, ...(minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }) };
      },
    });
    return tidied({ ...converted, ...($defs === undefined ? {} : { $defs }) }) as JsonSchema;
  };
  return {
    of: (schema: v.GenericSchema): JsonSchema => {
      const { $defs: _, ...converted } = convert(plain(schema));
      return converted;
    },
    components: (): Record<string, JsonSchema> => (convert(v.never())['$defs'] ?? {}) as Record<string, JsonSchema>,
  };
}

/** Drops empty lists and objects. A nullable value gets two types, because some generators do not know null alone. */
function tidied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(tidied);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(withNullAsType(value as JsonSchema)).filter(
    ([key, each]) =>
      !(key === 'required' && Array.isArray(each) && each.length === 0) &&
      !(key === 'properties' && Object.keys(each as object).length === 0),
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, tidied(each)]));
}

function withNullAsType({ anyOf, ...rest }: JsonSchema): JsonSchema {
  const choices = anyOf as readonly JsonSchema[] | undefined;
  const [some, none] = choices ?? [];
  const isNullable = choices?.length === 2 && none?.['type'] === 'null' && typeof some?.['type'] === 'string';
  if (isNullable) return { ...some, type: [some['type'], 'null'], ...rest };
  return choices === undefined ? rest : { anyOf, ...rest };
}

/** Generators of clients know an enum in headers and parameters, but seldom a constant. */
export function withoutConstant({ const: only, ...schema }: JsonSchema): JsonSchema {
  return only === undefined ? schema : { ...schema, enum: [only] };
}

interface Parts {
  readonly type: string;
  readonly entries?: v.ObjectEntries;
  readonly wrapped?: v.GenericSchema;
  readonly item?: v.GenericSchema;
  readonly value?: v.GenericSchema;
  readonly options?: readonly v.GenericSchema[];
  readonly pipe?: readonly (v.GenericSchema | v.PipeAction<unknown, unknown, v.BaseIssue<unknown>>)[];
}

/**
 * Drops what JSON Schema cannot express: checks in code, and all after a transformation; `documentedAs` replaces its
 * schema. The same schema always gives the same result.
 */
function plainSchemas(direction: Direction) {
  const known = new Map<v.GenericSchema, v.GenericSchema>();
  const plain = (schema: v.GenericSchema): v.GenericSchema => {
    const made = known.get(schema) ?? rebuilt(schema);
    known.set(schema, made);
    return made;
  };

  const rebuilt = (schema: v.GenericSchema): v.GenericSchema => {
    const parts = schema as unknown as Parts;
    if (parts.pipe !== undefined) return plainPipe(parts.pipe);
    const { entries, wrapped, item, options } = parts;
    if (entries !== undefined) return plainObject(parts.type, entries);
    if (wrapped !== undefined) return { ...schema, wrapped: plain(wrapped) } as never;
    if (item !== undefined) return { ...schema, item: plain(item) } as never;
    if (options !== undefined && typeof options[0] === 'object') {
      return { ...schema, options: options.map(plain) } as never;
    }
    return schema;
  };

  const plainObject = (type: string, entries: v.ObjectEntries): v.GenericSchema => {
    const made = Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, plain(entry as never)]));
    if (type === 'loose_object') return v.looseObject(made);
    return type === 'strict_object' && direction === 'request' ? v.strictObject(made) : v.object(made);
  };

  const plainPipe = (pipe: NonNullable<Parts['pipe']>): v.GenericSchema => {
    let made: v.GenericSchema | undefined;
    const documentable: v.GenericSchema[] = [];
    const documented = pipe.findLastIndex((each) => shapeOf(each) !== undefined);
    for (const [at, each] of pipe.entries()) {
      if (at < documented) continue;
      const shape = shapeOf(each);
      if (shape !== undefined) made = plain(shape);
      else if (each.kind === 'schema' && made === undefined) made = plain(each as v.GenericSchema);
      else if (each.kind === 'transformation' || each.kind === 'schema') break;
      else if (toldActions.has(each.type)) documentable.push(each as never);
    }
    if (made === undefined) throw new Error('a pipe begins with a schema');
    return documentable.length === 0 ? made : (v.pipe(made, ...(documentable as unknown as [never])) as never);
  };
  return plain;
}

/** The pipe may start with another pipe. */
function shapeOf(part: { readonly kind: string; readonly type: string }): v.GenericSchema | undefined {
  if (part.kind !== 'metadata' || part.type !== 'metadata') return undefined;
  const { documentedAs } = (part as unknown as { metadata: { documentedAs?: () => v.GenericSchema } }).metadata;
  return documentedAs?.();
}
