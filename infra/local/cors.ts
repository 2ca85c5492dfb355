import { type HttpAnswer, noContent } from './http-answer.ts';
import type { LocalCors } from './local-template.ts';

/** Header names are in lower case. */
export interface CorsRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Answers as a configured HTTP API does. A preflight is answered before routes and authorizers, without headers when it
 * is not allowed. Every other answer gets headers for an allowed origin; a function's own CORS headers are dropped.
 */
export interface Cors {
  /** Returns undefined when the request is no preflight. */
  preflight(request: CorsRequest): HttpAnswer | undefined;
  completed(answer: HttpAnswer, request: CorsRequest): HttpAnswer;
}

/** `alsoAllows` accepts further origins; without a configuration it is not called. */
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
