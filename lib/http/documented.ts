import * as v from 'valibot';

/**
 * Says what a schema takes where its own form cannot be told in JSON Schema, for the interface's document (D48): a value
 * that a function judges, or text of a query that stands for a number. Changes nothing of what is parsed.
 */
export function documentedAs<T>(shape: () => v.GenericSchema) {
  return v.metadata<T, { readonly documentedAs: () => v.GenericSchema }>({ documentedAs: shape });
}

/**
 * Words that a request may spell in any letter case; answers have them as they stand here. JSON Schema has no word for
 * that, so the document lists one spelling and marks it (D48). For use in `documentedAs`: it judges one spelling only.
 */
export function inAnyLetterCase<const Words extends readonly string[]>(words: Words) {
  return v.pipe(v.picklist(words), v.metadata({ [anyLetterCase]: true }));
}

/** The same of words beside which the service takes others too: those that it knows are listed, and marked so. */
export function knownWords<const Words extends readonly string[]>(words: Words) {
  return v.pipe(inAnyLetterCase(words), v.metadata({ [othersMayCome]: true }));
}

/** The marks of such words in the document. */
export const anyLetterCase = 'x-any-letter-case';
export const othersMayCome = 'x-others-may-come';

/** Only null: told as one that may be null of what stands there elsewhere, because generated clients know no type of null alone. */
export function alwaysNull(elsewhere: () => v.GenericSchema) {
  return v.pipe(
    v.null(),
    documentedAs(() => v.nullable(elsewhere())),
  );
}

/** A number of an answer: it is documented as a whole one, and not judged again. */
export const wholeNumber = v.pipe(
  v.number(),
  documentedAs(() => v.pipe(v.number(), v.integer())),
);
