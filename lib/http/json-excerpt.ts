import type * as v from 'valibot';

/** Quotes JSON short enough for a sentence. */
export function jsonExcerpt(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/** Returns a schema's message, followed by the value received. It repeats the value, so never use it for secrets. */
export function butReceived(message: string): (issue: v.BaseIssue<unknown>) => string {
  return ({ input }) => `${message}, received ${jsonExcerpt(input)}`;
}
