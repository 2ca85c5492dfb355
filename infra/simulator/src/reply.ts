import type { PlatformError } from './errors.ts';

export type Reply =
  | {
      readonly kind: 'json';
      readonly status: number;
      readonly body: unknown;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'html'; readonly status: number; readonly html: string }
  | { readonly kind: 'bytes'; readonly status: number; readonly type: string; readonly bytes: Buffer }
  | { readonly kind: 'closed' };

export function json(body: unknown): Reply {
  return { kind: 'json', status: 200, body };
}

export function errorReply(error: PlatformError, traceId: string, headers?: Readonly<Record<string, string>>): Reply {
  return {
    kind: 'json',
    status: error.httpStatus,
    body: { error: { ...error.error, fbtrace_id: traceId } },
    headers,
  };
}
