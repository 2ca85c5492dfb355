import * as v from 'valibot';
import { boundedList, closedObject } from '../../http/closed-object.ts';
import { butReceived } from '../../http/json-excerpt.ts';
import { parse } from '../../http/parse.ts';
import { adviceOfCode } from './causes.ts';

const maxCodes = 100;

const CodeSchema = v.pipe(
  v.string(),
  v.maxLength(64),
  v.check((code) => adviceOfCode(code) !== undefined, butReceived('must be a code of report rows')),
);

/** Without codes, every cause that may pass counts (D57). */
export const MessagesRetryBody = closedObject({
  codes: v.optional(v.pipe(boundedList(CodeSchema, maxCodes), v.minLength(1, 'codes must name at least one code'))),
});

/** Returns the codes of a retry, or undefined for every cause that may pass. Refuses an unknown code with 400. */
export function parseRetryRequest(body: unknown): ReadonlySet<string> | undefined {
  const { codes } = parse(MessagesRetryBody, body);
  return codes === undefined ? undefined : new Set(codes);
}
