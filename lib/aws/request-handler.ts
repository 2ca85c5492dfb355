import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import { wholeReply } from './whole-reply.ts';

/** The SDK's requests have more, which those of its JSON protocols leave empty. */
interface ServiceRequest {
  readonly protocol: string;
  readonly hostname: string;
  /** An empty one is the protocol's. */
  readonly port?: number | string;
  readonly path: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  /** It is text. */
  readonly body?: unknown;
}

interface WholeReply {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array;
}

interface Patience {
  readonly connectMs: number;
  /** The whole reply must be there by then. */
  readonly replyMs: number;
}

/** As many as the SDK's own handler opens. */
const maxSockets = 50;

/**
 * Makes requests to AWS, in the form that its SDK asks for (`requestHandler`). Rejects with `TimeoutError` when the
 * time is over, which the SDK repeats. `keepAlive` keeps connections for the next requests.
 */
export function requestHandler(patience: Patience, { keepAlive = true } = {}) {
  const plain = { agent: new HttpAgent({ keepAlive, maxSockets }), request: httpRequest };
  const secure = { agent: new HttpsAgent({ keepAlive, maxSockets }), request: httpsRequest };
  return {
    handle: async (asked: ServiceRequest, { abortSignal }: { abortSignal?: unknown } = {}) => ({
      response: await replyTo(asked, asked.protocol === 'http:' ? plain : secure, {
        ...patience,
        signal: abortSignal as AbortSignal | undefined,
      }),
    }),
    destroy: () => {
      plain.agent.destroy();
      secure.agent.destroy();
    },
    // Nothing changes the configuration of a handler that is made.
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
}

function replyTo(
  { hostname, port, path, method, headers, body }: ServiceRequest,
  { agent, request }: { readonly agent: HttpAgent; readonly request: typeof httpRequest },
  { connectMs, replyMs, signal }: Patience & { readonly signal: AbortSignal | undefined },
): Promise<WholeReply> {
  return new Promise((resolve, reject) => {
    // A request that waits for a socket says nothing when it is destroyed.
    const cut = (error: Error) => {
      reject(error);
      outgoing.destroy(error);
    };
    const cutAfter = (ms: number) => setTimeout(() => cut(named('TimeoutError', `no answer within ${ms} ms`)), ms);
    const aborted = () => cut(named('AbortError', 'the request was aborted'));
    const host = hostname.replaceAll(/[[\]]/g, '');
    const outgoing = request({ agent, host, port, path, method, headers }, (reply) => {
      const { statusCode = 0, headers: replied } = reply;
      wholeReply(reply).then(
        (whole) => resolve({ statusCode, headers: replied as Record<string, string>, body: whole }),
        reject,
      );
    });
    const replying = cutAfter(replyMs);
    let connecting: NodeJS.Timeout | undefined;
    outgoing.once('socket', (socket: Socket) => {
      if (!socket.connecting) return;
      connecting = cutAfter(connectMs);
      socket.once('connect', () => clearTimeout(connecting));
    });
    if (signal?.aborted) aborted();
    signal?.addEventListener('abort', aborted, { once: true });
    // Those of a request that was cut are not heard of again.
    outgoing.on('error', reject);
    outgoing.once('close', () => {
      signal?.removeEventListener('abort', aborted);
      clearTimeout(replying);
      clearTimeout(connecting);
    });
    outgoing.end(body as string | undefined);
  });
}

function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
