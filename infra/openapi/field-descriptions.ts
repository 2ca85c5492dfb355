import texts from './field-texts.json' with { type: 'json' };

type Json = { readonly [key: string]: unknown };
const textOf: Readonly<Record<string, string>> = texts;

/**
 * Gives each field a description: the schema's own, else the closest text, of its owner, of the field above, or of its
 * name. `aboveOf` names the parent of an owner's fields. Throws one error with all fields without a text.
 */
export function described<S>(schemas: Readonly<Record<string, S>>, aboveOf: (owner: string) => string) {
  const missing = new Set<string>();
  const within = (value: unknown, owner: string, parent: string): unknown => {
    if (Array.isArray(value)) return value.map((each) => within(each, owner, parent));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        key === 'properties' ? fields(each, owner, parent) : within(each, owner, parent),
      ]),
    );
  };
  const fields = (properties: object, owner: string, parent: string): Json =>
    Object.fromEntries(
      Object.entries(properties).map(([name, field]: [string, Json]) => {
        const inner = within(field, owner, name) as Json;
        if (inner['description'] !== undefined) return [name, inner];
        const keys = [`${owner}.${parent}.${name}`, `${parent}.${name}`, `${owner}.${name}`, name];
        const description = keys.map((key) => textOf[key]).find((text) => text !== undefined);
        if (description === undefined) missing.add(`${name} of ${owner} (as ${keys.slice(1).join(', ')})`);
        return [name, { ...inner, description }];
      }),
    );
  const whole = Object.fromEntries(
    Object.entries(schemas).map(([owner, schema]) => [owner, within(schema, owner, aboveOf(owner)) as S]),
  );
  if (missing.size === 0) return whole;
  throw new Error(`infra/openapi/field-texts.json has no text for these fields: ${[...missing].join('; ')}`);
}
