import { type HttpAnswer, noContent } from './http-answer.ts';
import type { LocalCors } from './local-template.ts';

/** What of a request decides about CORS; names in lower case. */
export interface CorsRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * CORS as an HTTP API does it where it is configured. A preflight request is answered before routes and authorizers are
 * looked at; with 204 and no header more where it asks for something that is not allowed. Every other answer, the gateway's
 * own and those to whoever the authorizer refuses too, gets the headers for an origin that is allowed; what a function
 * says about CORS is dropped.
 */
export interface Cors {
  /** Undefined for a request that is no preflight. */
  preflight(request: CorsRequest): HttpAnswer | undefined;
  /** The answer to a request as the gateway sends it. */
  completed(answer: HttpAnswer, request: CorsRequest): HttpAnswer;
}

/** `alsoAllows` lets in pages of further origins; without a configuration it is not called. */
export function corsOf(configured: LocalCors | undefined, alsoAllows: (origin: string) => boolean = () => false): Cors {
  if (configured === undefined) return { preflight: () => undefined, completed: (answer) => answer };
  const { allowOrigins, allowMethods, allowHeaders, exposeHeaders, maxAgeSeconds } = configured;
  const allowed = (origin: string | undefined) => {
    if (origin === undefined) return undefined;
    if (allowOrigins.includes('*')) return '*';
    return allowOrigins.includes(origin) || alsoAllows(origin) ? origin : undefined;
  };
  return {
    preflight: (request) => {
      const method = header(request, 'access-control-request-method');
      const origin = header(request, 'origin');
      if (request.method !== 'OPTIONS' || method === undefined || origin === undefined) return undefined;
      const allowedOrigin = allowed(origin);
      const wanted = (header(request, 'access-control-request-headers') ?? '').split(',').map((name) => name.trim());
      const known = allowHeaders.map((name) => name.toLowerCase());
      const mayAsk = wanted.every((name) => name === '' || known.includes(name.toLowerCase()));
      if (allowedOrigin === undefined || !allowMethods.includes(method) || !mayAsk) return noContent({});
      return noContent({
        'access-control-allow-origin': allowedOrigin,
        'access-control-allow-methods': allowMethods.join(','),
        'access-control-allow-headers': known.join(','),
        'access-control-expose-headers': exposeHeaders.join(',').toLowerCase(),
        'access-control-max-age': String(maxAgeSeconds),
      });
    },

    completed: (answer, request) => {
      const own = Object.entries(answer.headers).filter(([name]) => !name.startsWith('access-control-'));
      const allowedOrigin = allowed(header(request, 'origin'));
      if (allowedOrigin === undefined) return { ...answer, headers: Object.fromEntries(own) };
      const headers = {
        ...Object.fromEntries(own),
        'access-control-allow-origin': allowedOrigin,
        'access-control-expose-headers': exposeHeaders.join(',').toLowerCase(),
      };
      return { ...answer, headers };
    },
  };
}

function header({ headers }: CorsRequest, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
