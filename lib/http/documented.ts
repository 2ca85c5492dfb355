import * as v from 'valibot';

/**
 * Documents a schema that JSON Schema cannot express (D48): a value that a function checks, or query text that stands
 * for a number.
 */
export function documentedAs<T>(shape: () => v.GenericSchema) {
  return v.metadata<T, { readonly documentedAs: () => v.GenericSchema }>({ documentedAs: shape });
}

/**
 * Documents words that requests may spell in any letter case. JSON Schema cannot express it, so the document marks one
 * spelling (D48). It accepts one spelling only: use it in `documentedAs`.
 */
export function inAnyLetterCase<const Words extends readonly string[]>(words: Words) {
  return v.pipe(v.picklist(words), v.metadata({ [anyLetterCase]: true }));
}

/** Documents words beside which the service accepts others: the document lists the known ones and marks them. */
export function knownWords<const Words extends readonly string[]>(words: Words) {
  return v.pipe(inAnyLetterCase(words), v.metadata({ [othersMayCome]: true }));
}

export const anyLetterCase = 'x-any-letter-case';
export const othersMayCome = 'x-others-may-come';

/** Is always null, but documented as nullable, because generated clients know no type of null alone. */
export function alwaysNull(elsewhere: () => v.GenericSchema) {
  return v.pipe(
    v.null(),
    documentedAs(() => v.nullable(elsewhere())),
  );
}

/** An answer documents the number as whole and does not check it again. */
export const wholeNumber = v.pipe(
  v.number(),
  documentedAs(() => v.pipe(v.number(), v.integer())),
);
