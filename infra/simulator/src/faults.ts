import * as v from 'valibot';
import { errorOfCode, isKnownCode, isKnownSubcode, managementError, PlatformError } from './errors.ts';
import type { PlatformRequest } from './platform-request.ts';
import { errorReply, type Reply } from './reply.ts';
import { RuleList } from './rule-list.ts';

const HttpStatusSchema = v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599));

const FaultActionSchema = v.pipe(
  v.strictObject({
    /** The reply has this HTTP status. Without `code` and `html` its body is a platform error that fits it. */
    status: v.optional(HttpStatusSchema),
    /** The body is the platform's error of this code, with its usual HTTP status unless `status` is given. */
    code: v.optional(v.pipe(v.number(), v.integer(), v.check(isKnownCode, 'is not a code of the platform'))),
    /** The body is a template-management error (code 100) of this subcode. */
    subcode: v.optional(v.pipe(v.number(), v.integer(), v.check(isKnownSubcode, 'is not a subcode of the platform'))),
    /** The body is a page instead of JSON: true for a standard 502, or the text. */
    html: v.optional(v.union([v.literal(true), v.string()])),
    /** The reply waits first; the wait also ends when the client gives up. */
    delay_ms: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(600_000))),
    /** Any word replaces `accepted` as the message's status in the reply. */
    message_status: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(1_000))),
    /** The connection closes without a reply: before the request is carried out, or after. */
    drop: v.optional(v.picklist(['before', 'after'])),
  }),
  v.check((action) => Object.keys(action).length > 0, 'must say at least one thing to do'),
  v.forward(
    v.check(
      (action) => action.status === undefined || action.status >= 400 || action.html !== undefined,
      'below 400 needs html',
    ),
    ['status'],
  ),
);

export const FaultSchema = v.strictObject({
  match: v.optional(
    v.strictObject({ method: v.optional(v.string()), path: v.optional(v.string()), to: v.optional(v.string()) }),
    {},
  ),
  action: FaultActionSchema,
  times: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
});

export type Fault = v.InferOutput<typeof FaultSchema>;
export type FaultAction = v.InferOutput<typeof FaultActionSchema>;

/** The oldest fault is first. A request meets the first that matches. */
export class FaultList extends RuleList<Fault> {
  /** Takes the first match and uses up one of its times. `path` matches any part, method and recipient the whole. */
  take({ method, path }: Pick<PlatformRequest, 'method' | 'path'>, to: string | undefined): FaultAction | undefined {
    return this.takeFirst(
      ({ match }) =>
        (match.method === undefined || match.method === method) &&
        (match.path === undefined || path.includes(match.path)) &&
        (match.to === undefined || recipientKey(match.to) === to),
    )?.action;
  }
}

/** Returns a recipient's normal form: without the leading plus, or the blank that a query makes of it. */
export function recipientKey(to: string): string {
  return to.replace(/^[+\s]+/, '');
}

export interface FaultContext {
  readonly path: string;
  readonly traceId: () => string;
  /** The wait ends early when the client closes the connection. */
  readonly wait: (ms: number) => Promise<void>;
}

/** Applies a fault around `carryOut`, which handles the request normally. */
export async function applyFault(
  action: FaultAction,
  context: FaultContext,
  carryOut: () => Reply | Promise<Reply>,
): Promise<Reply> {
  if (action.delay_ms !== undefined) await context.wait(action.delay_ms);
  if (action.drop === 'before') return { kind: 'closed' };
  if (action.drop === 'after') {
    await carryOut();
    return { kind: 'closed' };
  }
  if (action.html !== undefined) {
    return { kind: 'html', status: action.status ?? 502, html: action.html === true ? badGatewayPage : action.html };
  }
  const error = errorOf(action, context.path);
  if (error !== undefined) return errorReply(error, context.traceId());
  const reply = await carryOut();
  return action.message_status === undefined ? reply : withMessageStatus(reply, action.message_status);
}

const AcceptedSchema = v.looseObject({ messages: v.array(v.looseObject({ message_status: v.string() })) });

/** Leaves replies without an accepted message as they are. */
function withMessageStatus(reply: Reply, messageStatus: string): Reply {
  const accepted = reply.kind === 'json' ? v.safeParse(AcceptedSchema, reply.body) : undefined;
  if (reply.kind !== 'json' || !accepted?.success) return reply;
  const messages = accepted.output.messages.map((message) => ({ ...message, message_status: messageStatus }));
  return { ...reply, body: { ...accepted.output, messages } };
}

function errorOf(action: FaultAction, path: string): PlatformError | undefined {
  if (action.status === undefined && action.code === undefined && action.subcode === undefined) return undefined;
  const error =
    action.subcode === undefined
      ? errorOfCode(action.code ?? codeOfStatus(action.status ?? 500), path.endsWith('messages'))
      : managementError(action.subcode);
  if (action.status === undefined) return error;
  return new PlatformError(action.status, { ...error.error, message: error.message });
}

function codeOfStatus(httpStatus: number): number {
  if (httpStatus >= 500) return httpStatus === 503 ? 2 : 131000;
  return { 401: 190, 403: 10, 429: 4 }[httpStatus] ?? 100;
}

const badGatewayPage =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n</body>\r\n</html>\r\n';
