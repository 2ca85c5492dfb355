import * as v from 'valibot';

/** A DID in a path or a body may not be blank (D5). */
export const DidSchema = v.pipe(v.string(), v.regex(/\S/, 'did is required'));
