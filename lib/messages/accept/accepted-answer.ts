import * as v from 'valibot';

/** The dispatch id is a header, so this body lacks it. */
export const AcceptedAnswer = v.object({ success: v.literal(true), warning: v.optional(v.string()) });
