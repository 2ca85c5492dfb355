import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as v from 'valibot';

/** Header names are in lower case. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: Buffer;
}

/** API Gateway has these bodies by status; an HTTP API cannot change them. */
const gatewayMessages = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  413: 'Request Entity Too Large',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
} as const;

export function gatewayAnswer(status: keyof typeof gatewayMessages): HttpAnswer {
  return jsonAnswer(status, JSON.stringify({ message: gatewayMessages[status] }));
}

/** AWS never receives a request for a foreign host name. */
export const foreignHostAnswer: HttpAnswer = jsonAnswer(
  403,
  JSON.stringify({ message: 'refused: the Host header is no loopback name (localhost, 127.0.0.1, [::1])' }),
);

export function noContent(headers: HttpAnswer['headers']): HttpAnswer {
  return { status: 204, headers, cookies: [], body: Buffer.alloc(0) };
}

/** Neither Node.js nor API Gateway can end a request with a 1xx. */
const FunctionAnswerSchema = v.object({
  statusCode: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
  headers: v.optional(v.nullable(v.record(v.string(), v.union([v.string(), v.number(), v.boolean()])))),
  cookies: v.optional(v.nullable(v.array(v.string()))),
  body: v.optional(v.nullable(v.string())),
  isBase64Encoded: v.optional(v.boolean()),
});

/**
 * Applies the response rule of payload format 2.0: without `statusCode` the payload is the body of a 200; an unusable
 * `statusCode` or other field is a 500; without `content-type` the body is plain text.
 */
export function answerOfFunction(payload: unknown): HttpAnswer {
  const structured = payload !== null && typeof payload === 'object' && 'statusCode' in payload;
  if (!structured) return jsonAnswer(200, JSON.stringify(payload ?? null));
  const parsed = v.safeParse(FunctionAnswerSchema, payload);
  if (!parsed.success) return gatewayAnswer(500);
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.output;
  const pairs = [...Object.entries(headers ?? {}), ...(cookies ?? []).map((cookie) => ['set-cookie', cookie] as const)];
  if (!pairs.every(([name, value]) => canBeSent(name, String(value)))) return gatewayAnswer(500);
  return {
    status: statusCode,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...lowerCased(headers ?? {}) },
    cookies: cookies ?? [],
    body: Buffer.from(body ?? '', isBase64Encoded === true ? 'base64' : 'utf8'),
  };
}

function jsonAnswer(status: number, body: string): HttpAnswer {
  return { status, headers: { 'content-type': 'application/json' }, cookies: [], body: Buffer.from(body) };
}

function canBeSent(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}

function lowerCased(headers: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
}
