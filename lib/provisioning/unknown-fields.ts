import type * as v from 'valibot';
import { unrecognizedField } from '../http/closed-object.ts';
import type { Fault } from '../http/refusal.ts';

/** What the parts of a schema look like that have parts of their own. */
interface Nested {
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
}

/**
 * Every field of a value that its schema does not know, at any depth. `v.strictObject` names the first one of each object
 * only, and none that is called as something every object has, such as `constructor`.
 */
export function unknownFields(schema: v.GenericSchema, value: unknown, path = ''): Fault[] {
  const { entries, item, wrapped } = schema as Nested;
  if (wrapped !== undefined) return unknownFields(wrapped, value, path);
  if (item !== undefined && Array.isArray(value)) {
    return value.flatMap((each, index) => unknownFields(item, each, `${path}[${index}]`));
  }
  if (entries === undefined || value === null || typeof value !== 'object' || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, each]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const known = Object.hasOwn(entries, key) ? entries[key] : undefined;
    return known === undefined
      ? [{ path: at, message: `${unrecognizedField}: ${at}` }]
      : unknownFields(known, each, at);
  });
}
