import * as v from 'valibot';

/** A blank one in a path or a body counts as missing (D5). */
export const DidSchema = v.pipe(v.string(), v.regex(/\S/, 'did is required'));
