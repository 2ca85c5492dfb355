import type * as v from 'valibot';

/** What came, as JSON spells it and short enough for a sentence. */
export function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value) ?? typeof value;
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

/**
 * The message of a schema that says what must be there, with what came behind it. Not for passwords and other secrets:
 * what came would be repeated.
 */
export function butReceived(message: string): (issue: v.BaseIssue<unknown>) => string {
  return ({ input }) => `${message}, received ${shown(input)}`;
}
