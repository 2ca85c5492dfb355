import * as v from 'valibot';

/** The body that answers an accepted dispatch; its id is a header. */
export const AcceptedAnswer = v.object({ success: v.literal(true), warning: v.exactOptional(v.string()) });
