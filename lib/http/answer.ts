import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import * as v from 'valibot';
import { type Refusal, refusalCodes } from './refusal.ts';

export type Answer = APIGatewayProxyStructuredResultV2;

declare const shape: unique symbol;
export type Shaped = { readonly [shape]: v.GenericSchema };

type Unchanged<T> = T extends readonly (infer Item)[]
  ? readonly Unchanged<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Unchanged<T[Key]> }
    : T;

/**
 * Returns a body as its schema outputs it (D48). Other fields are dropped, so that nothing internal leaks; a body that
 * breaks its schema is a 500.
 */
export function shaped<const S extends v.GenericSchema>(schema: S, body: Unchanged<v.InferInput<S>>): Shaped {
  return v.parse(schema, body, { abortEarly: true }) as Shaped;
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

export function answer(status: number, body: Shaped, headers: Readonly<Record<string, string>> = {}): Answer {
  return { statusCode: status, headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body) };
}

/** Answers plain text that no browser sniffs as another type. */
export function plainText(text: string): Answer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { statusCode: 200, headers: { ...headers, 'cache-control': 'no-store' }, body: text };
}

/** Answers CSV, with or without its header line. */
export function csvAnswer(
  text: string,
  { withNames, headers }: { readonly withNames: boolean; readonly headers: Readonly<Record<string, string>> },
): Answer {
  const type = `text/csv; charset=utf-8; header=${withNames ? 'present' : 'absent'}`;
  const own = { 'content-type': type, 'cache-control': 'no-store' };
  return { statusCode: 200, headers: { ...own, ...headers }, body: text };
}

/** A browser may cache a redirect this long: enough for one reader, short enough to stop a link. */
const movedMaxAgeSeconds = 300;

/** Returns a redirect to a URL as the URL parser spells it (`URL.href`): no other text may reach a header. */
export function movedTo(url: string): Answer {
  const headers = { location: url, 'cache-control': `private, max-age=${movedMaxAgeSeconds}` };
  return { statusCode: 302, headers, body: '' };
}

/** API Gateway's own errors also use `message`, so clients see one shape (D1). */
export const RefusalAnswer = v.object({
  message: v.pipe(v.string(), v.description('One sentence for people; its text may change.')),
  code: v.picklist(refusalCodes),
  platform_code: v.optional(v.pipe(v.number(), v.description('The error code of the platform, as it gave it.'))),
  estimate: v.optional(
    v.pipe(
      v.object({ cost: v.object({ amount: v.number(), currency: v.string() }) }),
      v.description('What the send would cost at list prices, where that is why it was refused.'),
    ),
  ),
  retried_by: v.optional(
    v.pipe(v.array(v.string()), v.description('The dispatches that retry the recipients already.')),
  ),
  errors: v.optional(
    v.pipe(
      v.array(
        v.object({
          path: v.pipe(v.string(), v.description('Where: a dot path, indexes of lists in brackets.')),
          message: v.string(),
        }),
      ),
      v.description('The faults of the request, the first 100.'),
    ),
  ),
});

export function refusalAnswer(refusal: Refusal): Answer {
  const { errors, headers, platformCode, estimate, retriedBy } = refusal.details;
  if (refusal.code === 'invalid_credentials') {
    return { statusCode: refusal.status, headers: { 'cache-control': 'no-store' }, body: '' };
  }
  const body = shaped(RefusalAnswer, {
    message: refusal.message,
    code: refusal.code,
    platform_code: platformCode,
    estimate: estimate && { cost: estimate },
    retried_by: retriedBy,
    ...(errors === undefined || errors.length === 0 ? {} : { errors }),
  });
  return answer(refusal.status, body, headers);
}
