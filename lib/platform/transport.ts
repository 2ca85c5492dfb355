import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { urlToHttpOptions } from 'node:url';
import * as v from 'valibot';
import { wholeReply } from '../aws/whole-reply.ts';
import { countPlatformError, countRefusedCredential } from '../observe/metrics.ts';
import { type Clocks, type Connections, freshConnections, machineClocks } from './connections.ts';
import { codePaceOf, PlatformFailure } from './failure.ts';

export interface PlatformCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path is below the version, without a leading slash: `300000000000001/messages`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Bytes are sent unchanged, all else as JSON. */
  readonly body?: unknown;
  readonly accessToken: string;
  /** The credential's WABA, if known, names a refused token. */
  readonly wabaId?: string;
  /** The token's scheme is `Bearer` by default. */
  readonly authorization?: 'Bearer' | 'OAuth';
  readonly headers?: Readonly<Record<string, string>>;
  /** The limit is below the transport's. */
  readonly timeoutMs?: number;
}

export interface PlatformReply {
  readonly body: Readonly<Record<string, unknown>>;
  /** The platform reports the used share of the WABA's calls for messages (`X-Business-Use-Case-Usage`). */
  readonly usagePercent?: number;
}

/**
 * Makes one call. Resolves for a 2xx with a JSON object; throws `PlatformFailure` for everything else. Never retries.
 */
export type PlatformTransport = (call: PlatformCall) => Promise<PlatformReply>;

export interface TransportOptions {
  /** The URL has scheme and host, no trailing slash. Plain http serves the simulator on this machine only. */
  readonly baseUrl: string;
  readonly version: string;
  readonly timeoutMs: number;
  /** A larger reply fails with `ReplyTooLarge` as its cause. */
  readonly maxReplyBytes?: number;
  readonly clocks?: Clocks;
}

const defaultMaxReplyBytes = 20_000_000;

/** Each scheme has its modules. Once `established` fires, bytes of the request may be on the wire. */
const http = { Agent: HttpAgent, request: httpRequest, established: 'connect' };
const https: Scheme = { Agent: HttpsAgent, request: httpsRequest, established: 'secureConnect' };
type Scheme = typeof http;

/** Builds a transport with its own connections and TLS sessions, kept across invocations (`freshConnections`). */
export function platformTransport(options: TransportOptions): PlatformTransport {
  const base = new URL(options.baseUrl);
  const scheme = base.protocol === 'https:' ? https : http;
  // The https agent caches the last session of a host, and offers it to the next connection.
  const agent = new scheme.Agent({ keepAlive: true, scheduling: 'fifo' });
  const connections = freshConnections(agent, options.clocks ?? machineClocks);
  const server = { base, target: urlToHttpOptions(base), ...scheme, connections };
  return async (call) => {
    try {
      return await callOnce(server, options, call);
    } catch (error) {
      if (error instanceof PlatformFailure) countFailure(error, call.wabaId);
      throw error;
    }
  };
}

function countFailure(failure: PlatformFailure, wabaId: string | undefined): void {
  countPlatformError(failure.metricCode);
  if (failure.credentialRefused) countRefusedCredential(wabaId);
}

type Server = Scheme & { readonly base: URL; readonly target: RequestOptions; readonly connections: Connections };

function callOnce(
  { base, target, request, established, connections }: Server,
  options: TransportOptions,
  call: PlatformCall,
): Promise<PlatformReply> {
  const url = new URL(`/${options.version}/${call.path}`, base);
  for (const [key, value] of Object.entries(call.query ?? {})) url.searchParams.set(key, value);
  const payload = payloadOf(call.body);

  return new Promise((resolve, reject) => {
    let mayHaveLeft = false;
    const fail = (cause: unknown) => reject(new PlatformFailure(mayHaveLeft ? 'ambiguous' : 'not_sent', { cause }));

    const outgoing = request(
      {
        ...target,
        path: `${url.pathname}${url.search}`,
        agent: connections.agent(),
        method: call.method,
        headers: {
          ...call.headers,
          authorization: `${call.authorization ?? 'Bearer'} ${call.accessToken}`,
          accept: 'application/json',
          ...payload?.headers,
        },
      },
      (reply) => resolve(answerOf(reply, options)),
    );
    const limitMs = Math.min(options.timeoutMs, call.timeoutMs ?? options.timeoutMs);
    // A timer takes less processor time than a signal.
    const late = setTimeout(() => outgoing.destroy(new Error(`no answer within ${limitMs} ms`)), limitMs);
    outgoing.on('socket', (socket: Socket) => {
      connections.taken(socket);
      // A reused connection may have taken the request, however soon it ends.
      if (outgoing.reusedSocket) mayHaveLeft = true;
      else socket.once(established, () => (mayHaveLeft = true));
    });
    outgoing.on('error', fail);
    outgoing.on('close', () => clearTimeout(late));
    outgoing.end(payload?.bytes);
  });
}

function payloadOf(body: unknown) {
  if (body === undefined) return undefined;
  const [type, bytes] =
    body instanceof Buffer
      ? ['application/octet-stream', body]
      : ['application/json', Buffer.from(JSON.stringify(body))];
  return { bytes, headers: { 'content-type': type, 'content-length': bytes.byteLength } };
}

/** Once a reply has begun, the platform may have acted, whatever cuts it off. */
async function answerOf(reply: IncomingMessage, { maxReplyBytes = defaultMaxReplyBytes }: TransportOptions) {
  const bytes = await wholeReply(reply, maxReplyBytes).catch((cause: unknown) => {
    throw new PlatformFailure('ambiguous', { cause });
  });
  return interpret(reply, bytes.toString('utf8'));
}

const ErrorBodySchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    error: v.object({
      message: v.optional(v.string()),
      code: v.number(),
      error_subcode: v.optional(v.number()),
      error_user_msg: v.optional(v.string()),
      // The code counts, whatever stands here.
      error_data: v.fallback(v.optional(v.object({ details: v.optional(v.string()) })), undefined),
    }),
  }),
);

/** Every message's answer passes here, so no schema takes the processor's time. */
function jsonObjectIn(text: string): PlatformReply['body'] | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return json !== null && typeof json === 'object' && !Array.isArray(json) ? { ...json } : undefined;
  } catch {
    return undefined;
  }
}

function interpret(reply: IncomingMessage, text: string): PlatformReply {
  const httpStatus = reply.statusCode ?? 0;
  if (httpStatus >= 200 && httpStatus < 300) {
    const body = jsonObjectIn(text);
    if (body === undefined) throw new PlatformFailure('ambiguous', { httpStatus });
    return { body, usagePercent: usagePercentOf(reply) };
  }
  const parsed = v.safeParse(ErrorBodySchema, text);
  const error = parsed.success ? parsed.output.error : undefined;
  const facts = {
    httpStatus,
    code: error?.code,
    subcode: error?.error_subcode,
    userMessage: error?.error_user_msg ?? error?.error_data?.details ?? error?.message,
    retryAfterSeconds: retryAfterSecondsOf(reply, error?.code),
  };
  const understood = httpStatus >= 400 && httpStatus < 500 && (parsed.success || httpStatus === 429);
  throw new PlatformFailure(understood ? 'refused' : 'ambiguous', facts);
}

/** No window of the platform is longer, so a larger value is not understood. */
const longestRegainMinutes = 1_440;

const UsageSchema = v.pipe(
  v.string(),
  v.parseJson(),
  v.record(
    v.string(),
    v.array(
      v.looseObject({
        type: v.fallback(v.string(), ''),
        call_count: v.fallback(v.number(), 0),
        estimated_time_to_regain_access: v.fallback(
          v.pipe(v.number(), v.minValue(0), v.maxValue(longestRegainMinutes)),
          0,
        ),
      }),
    ),
  ),
);

/**
 * Reads `Retry-After`, else the usage header's time when calls are used up (4, 80007, 80008). Returns undefined without
 * a readable value.
 */
function retryAfterSecondsOf({ headers }: IncomingMessage, code: number | undefined): number | undefined {
  const seconds = Number(headers['retry-after']);
  if (Number.isFinite(seconds) && seconds > 0) return seconds;
  if (codePaceOf(code) !== 'quota') return undefined;
  const minutes = Math.max(0, ...usagesIn(headers).map((usage) => usage.estimated_time_to_regain_access));
  return minutes === 0 ? undefined : 60 * minutes;
}

/** Reads the usage of message calls; returns undefined without such usage. */
function usagePercentOf({ headers }: IncomingMessage): number | undefined {
  const ofMessages = usagesIn(headers).filter(({ type }) => type === 'whatsapp');
  return ofMessages.length === 0 ? undefined : Math.max(...ofMessages.map((usage) => usage.call_count));
}

/** Reads the usage header for each WABA and kind of call, empty when unreadable, because it must not fail an answer. */
function usagesIn(headers: IncomingMessage['headers']) {
  if (headers['x-business-use-case-usage'] === undefined) return [];
  const usage = v.safeParse(UsageSchema, headers['x-business-use-case-usage']);
  return usage.success ? Object.values(usage.output).flat() : [];
}
