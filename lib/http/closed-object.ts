import * as v from 'valibot';
import { didYouMean } from './closest-name.ts';
import { documentedAs } from './documented.ts';
import { forbiddenKeyIn } from './forbidden-key.ts';
import { butReceived } from './json-excerpt.ts';

/** The message of an unknown field starts so; `messageOf` in parse.ts appends the path. */
export const unrecognizedField = 'unrecognized field';
const maxNamedFields = 20;

/** valibot's own objects and records would accept a list. */
export const plainObject = v.custom<Record<string, unknown>>(
  (input) => input !== null && typeof input === 'object' && !Array.isArray(input),
  butReceived('must be an object'),
);

/** The client decides its contents. Keys that could change their holder are refused at any level. */
export const openObject = v.pipe(
  plainObject,
  v.rawCheck(({ dataset, addIssue }) => {
    const key = dataset.typed ? forbiddenKeyIn(dataset.value) : undefined;
    if (key !== undefined) addIssue({ message: `forbidden key: ${key}` });
  }),
  documentedAs(() => v.looseObject({})),
);

type ClosedObject<E extends v.ObjectEntries> = v.GenericSchema<
  v.InferInput<v.ObjectSchema<E, undefined>>,
  v.InferOutput<v.ObjectSchema<E, undefined>>
>;

/**
 * Refuses unknown fields and suggests known ones (D6), 20 at most. `v.strictObject` names only the first, and valibot
 * silently drops `__proto__`, `prototype` and `constructor`, so the raw input is checked.
 */
export function closedObject<const E extends v.ObjectEntries>(entries: E): ClosedObject<E> {
  const nothingElse = v.pipe(
    plainObject,
    nothingBut(entries),
    v.transform(() => ({})),
  );
  const both = v.intersect([v.object(entries), nothingElse]) as unknown as v.GenericSchema<Record<string, unknown>>;
  return v.pipe(
    plainObject,
    both,
    documentedAs(() => v.strictObject(entries)),
  ) as unknown as ClosedObject<E>;
}

/** Makes the check alone, for a value that may be no object. */
export function nothingBut<T>(entries: Readonly<Record<string, unknown>>) {
  const known = Object.keys(entries);
  return v.rawCheck<T>(({ dataset, addIssue }) => {
    const input: unknown = dataset.value;
    if (input === null || typeof input !== 'object' || Array.isArray(input)) return;
    let named = 0;
    for (const key in input) {
      if (!Object.hasOwn(input, key) || Object.hasOwn(entries, key)) continue;
      addIssue({
        message: `${unrecognizedField}${didYouMean(key, known)}`,
        path: [{ type: 'object', origin: 'key', input: input as Record<string, unknown>, key, value: undefined }],
      });
      named += 1;
      if (named === maxNamedFields) return;
    }
  });
}

/** Checks a list's length first, so that an endless one costs nothing. */
export function boundedList<const S extends v.GenericSchema>(item: S, maxItems: number) {
  const items = v.array(item);
  const tooLong = v.pipe(v.custom<v.InferInput<S>[]>(Array.isArray), v.maxLength(maxItems)) as unknown as typeof items;
  return v.pipe(
    v.lazy((input) => (Array.isArray(input) && input.length > maxItems ? tooLong : items)),
    documentedAs(() => v.pipe(items, v.maxLength(maxItems))),
  );
}
