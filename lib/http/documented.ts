import * as v from 'valibot';

/**
 * Says what a schema takes where its own form cannot be told in JSON Schema, for the interface's document (D48): a value
 * that a function judges, or text of a query that stands for a number. Changes nothing of what is parsed.
 */
export function documentedAs<T>(shape: () => v.GenericSchema) {
  return v.metadata<T, { readonly documentedAs: () => v.GenericSchema }>({ documentedAs: shape });
}

/** A number of an answer: it is documented as a whole one, and not judged again. */
export const wholeNumber = v.pipe(
  v.number(),
  documentedAs(() => v.pipe(v.number(), v.integer())),
);
