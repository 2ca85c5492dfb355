import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { closeAtOnce, openOnLoopback } from '../../../infra/loopback.ts';

/**
 * A request to the tables may be refused, be done with a lost reply, or be done late, perhaps after its client gave up.
 */
export const troubleKinds = ['error', 'throttled', 'reply lost', 'slow'] as const;
export type TroubleKind = (typeof troubleKinds)[number];

export interface TroubledStore {
  readonly endpoint: string;
  /** For so long, this share of the requests meets that fault. It replaces the fault before. */
  trouble(kind: TroubleKind, share: number, forMs: number): void;
  /**
   * `heard` is called with the caller's port for each request that has this text, before it is done. Returns what ends
   * that.
   */
  listen(text: string, heard: (port: number, body: Buffer) => void): () => void;
  /** Counts the requests that met each fault. */
  readonly met: ReadonlyMap<TroubleKind, number>;
  stop(): Promise<void>;
}

const refusals = {
  error: [500, 'InternalServerError'],
  throttled: [400, 'ProvisionedThroughputExceededException'],
} as const;
const slowestMs = 5_000;

/** Starts a faulty proxy before a DynamoDB emulator on this machine. `random` returns 0 to 1. */
export async function startTroubledStore(target: string, random: () => number): Promise<TroubledStore> {
  const met = new Map<TroubleKind, number>();
  let phase: { readonly kind: TroubleKind; readonly share: number; readonly untilMs: number } | undefined;
  const meets = () => {
    if (phase === undefined || performance.now() > phase.untilMs || random() > phase.share) return undefined;
    met.set(phase.kind, (met.get(phase.kind) ?? 0) + 1);
    return phase.kind;
  };
  const listeners = new Map<object, (body: Buffer, port: number) => void>();
  const server = createServer(async (incoming, outgoing) => {
    try {
      const body = await buffer(incoming);
      for (const hear of listeners.values()) hear(body, incoming.socket.remotePort ?? 0);
      const kind = meets();
      if (kind === 'error' || kind === 'throttled') return refuse(outgoing, refusals[kind]);
      if (kind === 'slow') await pause(random() * slowestMs);
      const reply = await asked(incoming, body, target);
      if (kind === 'reply lost') return void outgoing.destroy();
      outgoing.writeHead(reply.status, reply.headers).end(reply.body);
    } catch {
      outgoing.destroy();
    }
  });
  server.keepAliveTimeout = 60_000;
  const port = await openOnLoopback(server, 0);
  return {
    endpoint: `http://127.0.0.1:${port}`,
    trouble: (kind, share, forMs) => {
      phase = { kind, share, untilMs: performance.now() + forMs };
    },
    listen: (text, heard) => {
      const key = {};
      listeners.set(key, (body, port) => {
        if (body.includes(text)) heard(port, body);
      });
      return () => void listeners.delete(key);
    },
    met,
    stop: () => closeAtOnce(server),
  };
}

function refuse(outgoing: ServerResponse, [status, name]: readonly [number, string]): void {
  const type = { 'content-type': 'application/x-amz-json-1.0' };
  const body = { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'harm that was done on purpose' };
  outgoing.writeHead(status, type).end(JSON.stringify(body));
}

async function asked({ method = 'POST', url = '/', headers }: IncomingMessage, body: Buffer, target: string) {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    request(new URL(url, target), { method, headers }, resolve).on('error', reject).end(body);
  });
  return { status: reply.statusCode ?? 502, headers: reply.headers, body: await buffer(reply) };
}
