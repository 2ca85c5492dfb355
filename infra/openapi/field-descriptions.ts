import texts from './field-texts.json' with { type: 'json' };

type Json = { readonly [key: string]: unknown };
const textOf: Readonly<Record<string, string>> = texts;

/**
 * Gives each field a description: the schema's own, else the closest text: of its owner (named schema, operation, kind
 * of event), of the field above, or of its name. Throws for a field without a text.
 */
export function described<S>(schema: S, owner: string, above = owner): S {
  const within = (value: unknown, parent: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => within(each, parent));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        key === 'properties' ? fields(each, parent) : within(each, parent),
      ]),
    );
  };
  const fields = (properties: object, parent: string): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([name, field]: [string, Json]) => {
        const inner = within(field, name) as Json;
        if (inner['description'] !== undefined) return [name, inner];
        const keys = [`${owner}.${parent}.${name}`, `${parent}.${name}`, `${owner}.${name}`, name];
        const description = keys.map((key) => textOf[key]).find((text) => text !== undefined);
        if (description === undefined) throw new Error(`nothing is said of the field ${name} of ${owner} (${parent})`);
        return [name, { ...inner, description }];
      }),
    );
  return within(schema, above) as S;
}
