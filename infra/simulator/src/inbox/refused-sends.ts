import type { Exchange } from '../exchanges.ts';
import type { Refusal } from '../refused-log.ts';
import type { Reply } from '../reply.ts';
import type { World } from '../state.ts';

/**
 * Records a send that was answered with an error. A read mark is no send. After a closed connection the message may
 * have been accepted, so it is not recorded.
 */
export function noteRefused(
  world: World,
  { id, request }: Exchange,
  { to, reply }: { readonly to: string | undefined; readonly reply: Reply },
): void {
  const [, numberId] = /\/(\d+)\/(?:marketing_)?messages\/?$/.exec(request.path) ?? [];
  const refusal = refusalOf(reply);
  const isReadMark = textIn(request.body, 'status') !== '';
  if (request.method !== 'POST' || numberId === undefined || refusal === undefined || isReadMark) return;
  world.messages.refuse({
    to: to ?? '',
    numberId,
    path: request.path,
    request: request.body,
    template: {
      name: textIn(request.body, 'template', 'name'),
      language: textIn(request.body, 'template', 'language', 'code'),
    },
    callbackData: textIn(request.body, 'biz_opaque_callback_data') || undefined,
    receivedMs: Date.parse(request.received_at),
    exchangeId: id,
    refusal,
  });
}

function refusalOf(reply: Reply): Refusal | undefined {
  if ((reply.kind !== 'json' && reply.kind !== 'html') || reply.status < 400) return undefined;
  const { status: httpStatus } = reply;
  if (reply.kind === 'html') {
    return { httpStatus, code: null, subcode: null, message: `HTTP ${httpStatus} with a page`, details: '' };
  }
  const error = inside(reply.body, ['error']);
  return {
    httpStatus,
    code: numberIn(error, 'code'),
    subcode: numberIn(error, 'error_subcode'),
    message: textIn(error, 'message') || `HTTP ${httpStatus}`,
    details: textIn(error, 'error_data', 'details') || textIn(error, 'error_user_msg'),
  };
}

function inside(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, key) => (typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined),
    value,
  );
}

function textIn(value: unknown, ...path: readonly string[]): string {
  const found = inside(value, path);
  return typeof found === 'string' ? found : '';
}

function numberIn(value: unknown, key: string): number | null {
  const found = inside(value, [key]);
  return typeof found === 'number' ? found : null;
}
