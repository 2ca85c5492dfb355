import type * as v from 'valibot';
import { unrecognizedField } from '../http/closed-object.ts';
import type { Fault } from '../http/refusal.ts';

interface Nested {
  readonly entries?: Readonly<Record<string, v.GenericSchema>>;
  readonly item?: v.GenericSchema;
  readonly wrapped?: v.GenericSchema;
}

/**
 * Returns every unknown field of a value, at any depth. `v.strictObject` reports only the first of each object, and
 * none with a name that every object has, such as `constructor`.
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
