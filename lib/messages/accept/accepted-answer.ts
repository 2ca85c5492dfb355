import * as v from 'valibot';

/** What is said of a dispatch that was accepted; its id is a header. */
export const AcceptedAnswer = v.object({ success: v.literal(true), warning: v.exactOptional(v.string()) });
