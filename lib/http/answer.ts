import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { present } from '../keys/present.ts';
import type { Refusal } from './refusal.ts';

export type Answer = APIGatewayProxyStructuredResultV2;

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };

/** A JSON answer. Bodies are answers of the contract: build them in a view, never by spreading a stored item. */
export function answer(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { statusCode: status, headers: { ...jsonHeaders, ...headers }, body: JSON.stringify(body) };
}

/** Plain text, which no browser takes for anything else. */
export function plainText(text: string): Answer {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' };
  return { statusCode: 200, headers: { ...headers, 'cache-control': 'no-store' }, body: text };
}

/** How long a browser may follow a redirect without asking again: long enough for one reader, short enough to stop a link. */
const movedMaxAgeSeconds = 300;

/** A redirect to an absolute URL as the URL parser spells it (`URL.href`): no other text may reach a header. */
export function movedTo(url: string): Answer {
  const headers = { location: url, 'cache-control': `private, max-age=${movedMaxAgeSeconds}` };
  return { statusCode: 302, headers, body: '' };
}

/** The body of every refusal (D1). `message` is the key API Gateway uses for its own errors, so clients see one shape. */
export function refusalAnswer(refusal: Refusal): Answer {
  const { errors, headers, platformCode } = refusal.details;
  if (refusal.code === 'invalid_credentials') {
    return { statusCode: refusal.status, headers: { 'cache-control': 'no-store' }, body: '' };
  }
  return answer(
    refusal.status,
    {
      message: refusal.message,
      code: refusal.code,
      ...present({ platform_code: platformCode }),
      ...(errors === undefined || errors.length === 0 ? {} : { errors }),
    },
    headers,
  );
}
