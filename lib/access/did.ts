import * as v from 'valibot';

/** A DID in a path or a body. A blank one counts as missing (D5). */
export const DidSchema = v.pipe(v.string(), v.regex(/\S/, 'did is required'));
