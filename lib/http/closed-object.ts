import * as v from 'valibot';

/** Marks the issue of an unknown field; `messageOf` in parse.ts adds the path. */
export const unrecognizedField = 'unrecognized field';
const maxNamedFields = 20;

/** A JSON object; valibot's own objects and records take a list for one. */
export const plainObject = v.custom<Record<string, unknown>>(
  (input) => input !== null && typeof input === 'object' && !Array.isArray(input),
  'must be an object',
);

type ClosedObject<E extends v.ObjectEntries> = v.GenericSchema<
  v.InferInput<v.ObjectSchema<E, undefined>>,
  v.InferOutput<v.ObjectSchema<E, undefined>>
>;

/**
 * An object without room for unknown fields: every one of them is a fault that names it (D6), 20 at most, so that a body
 * made of unknown fields cannot fill the memory with faults. `v.strictObject` names only the first, and every object of
 * valibot leaves out `__proto__`, `prototype` and `constructor` without a word: hence the look at what was given.
 */
export function closedObject<const E extends v.ObjectEntries>(entries: E): ClosedObject<E> {
  const nothingElse = v.pipe(
    plainObject,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return;
      const input = dataset.value;
      const unknown = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
      for (const key of unknown.slice(0, maxNamedFields)) {
        addIssue({
          message: unrecognizedField,
          path: [{ type: 'object', origin: 'key', input, key, value: undefined }],
        });
      }
    }),
    v.transform(() => ({})),
  );
  const both = v.intersect([v.object(entries), nothingElse]) as unknown as v.GenericSchema<Record<string, unknown>>;
  return v.pipe(plainObject, both) as unknown as ClosedObject<E>;
}

/** A list that is measured before its items are looked at, so that an endless one costs nothing. */
export function boundedList<const S extends v.GenericSchema>(item: S, maxItems: number) {
  return v.pipe(v.array(v.unknown()), v.maxLength(maxItems), v.array(item));
}
