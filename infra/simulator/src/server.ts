import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerControl } from './answer-control.ts';
import { credentialsApart, parsedBody } from './body.ts';
import { consolePage } from './console-pages.ts';
import type { Simulation } from './control-route.ts';
import { EventAttempts } from './event-attempts.ts';
import { applyFault, recipientKey } from './faults.ts';
import { noteRefused } from './inbox/refused-sends.ts';
import { KnownService } from './known-service.ts';
import { LiveChanges } from './live.ts';
import type { RecordedRequest } from './logs.ts';
import { closeAtOnce, hasLoopbackHost, openOnLoopback } from './loopback.ts';
import { foreignOriginReason } from './own-origin.ts';
import { answerPlatform } from './platform.ts';
import type { PlatformRequest } from './platform-request.ts';
import type { Reply } from './reply.ts';
import { hasHungUp, readBytes, readUpload } from './request-bytes.ts';
import { demoSeed, type Seed } from './seed.ts';
import { createWorld, type World } from './state.ts';
import { longestUploadBytes } from './uploads/upload.ts';
import { Emitter } from './webhooks/emitter.ts';

export interface SimulatorOptions {
  /** The port is any free one when this is 0 or absent. */
  readonly port?: number;
  /** The demo world is the default. */
  readonly seed?: Seed;
  /** Control calls add to this real time (`POST /_control/clock`). */
  readonly nowMs?: () => number;
  /** The simulator calls it when a webhook receiver begins to fail, and when it recovers. */
  readonly report?: (line: string) => void;
}

export interface Simulator {
  /** The form is `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** Closes open connections at once. */
  stop(): Promise<void>;
}

const newestVersion = 'v26.0';
const longestBodyBytes = 5_000_000;
const longestFormBytes = longestUploadBytes + longestBodyBytes;
/** The time is longer than any client waits between two calls. */
const keepAliveMs = 75_000;

/** Rejects when the port is taken. Listens on 127.0.0.1 only. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const seed = options.seed ?? demoSeed();
  const realNowMs = options.nowMs ?? Date.now;
  let world = createWorld(seed, realNowMs);
  let worldId = randomUUID();
  const emitter = new Emitter(() => world, options.report ?? console.log);
  const simulation: Simulation = {
    get world() {
      return world;
    },
    service: new KnownService(),
    controlled: { times: 0 },
    attempts: new EventAttempts(),
    get worldId() {
      return worldId;
    },
    reset: () => {
      worldId = randomUUID();
      world = createWorld(seed, realNowMs, world.apps.all());
    },
    emit: () => emitter.flush(),
  };
  const live = new LiveChanges(simulation);
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, outgoing) => {
    if (isOfConsole(incoming, live, outgoing)) return;
    answer(simulation, incoming, outgoing)
      .catch((error: unknown) => {
        outgoing.destroy();
        if (!hasHungUp(error)) console.error(error);
      })
      .finally(() => emitter.arm());
  });
  const port = await openOnLoopback(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      emitter.stop();
      return closeAtOnce(server);
    },
  };
}

function urlOf(incoming: IncomingMessage): URL | null {
  return URL.parse(incoming.url ?? '/', `http://${incoming.headers.host ?? '127.0.0.1'}`);
}

/** Refuses requests of foreign pages and accepts watchers; returns whether it answered. */
function isOfConsole(incoming: IncomingMessage, live: LiveChanges, outgoing: ServerResponse): boolean {
  if (urlOf(incoming) === null) return false;
  const why = foreignOriginReason(incoming.headers);
  const [path = ''] = (incoming.url ?? '').split('?', 1);
  // Any page may link to the console: the entry page holds no data and changes nothing.
  const isLink = path === '/' && incoming.method === 'GET' && incoming.headers['sec-fetch-mode'] === 'navigate';
  if (why !== undefined && !(isLink && hasLoopbackHost(incoming.headers))) {
    outgoing.writeHead(403, { 'content-type': 'application/json', connection: 'close' });
    outgoing.end(JSON.stringify({ message: `refused: ${why}` }));
    return true;
  }
  if (path !== '/_control/live' || incoming.method !== 'GET') return false;
  live.watch(outgoing);
  return true;
}

async function answer(simulation: Simulation, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const url = urlOf(incoming);
  if (url === null) {
    outgoing.writeHead(400, { connection: 'close' }).end();
    return;
  }
  const method = incoming.method ?? 'GET';
  const uploads = /\/upload(?::|%3A)[^/]*$/i.test(url.pathname);
  const contentType = incoming.headers['content-type'];
  const most = contentType?.startsWith('multipart/') === true ? longestFormBytes : longestBodyBytes;
  const bytes = await (uploads ? readUpload(incoming) : readBytes(incoming, most));
  simulation.world.settle(simulation.world.clock.nowMs());
  if (bytes === 'too_long') {
    outgoing.writeHead(413, { connection: 'close' }).end();
    return;
  }
  // Node.js omits the body of a response to HEAD.
  const isRead = method === 'GET' || method === 'HEAD';
  const page = isRead ? await consolePage(simulation, url.pathname) : undefined;
  if (page !== undefined) {
    outgoing.writeHead(page.status, page.headers).end(page.body);
    return;
  }
  const { body, file } = uploads ? { body: undefined } : await parsedBody(bytes, contentType);
  if (url.pathname.startsWith('/_control/')) {
    const reply = await answerControl(simulation, {
      method: isRead ? 'GET' : method,
      path: url.pathname,
      query: url.searchParams,
      body,
    });
    const text = JSON.stringify(reply.body);
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    };
    outgoing.writeHead(reply.status, headers).end(text);
    return;
  }
  const request = {
    method,
    path: url.pathname,
    query: url.searchParams,
    ...credentialsApart(incoming.headers.authorization, url.searchParams, body),
    file,
    bytes: uploads ? bytes : Buffer.alloc(0),
    fileOffset: incoming.headers['file_offset']?.toString(),
    self: `${url.origin}${url.pathname}`,
    wait: (ms: number) => waitUnlessGone(ms, outgoing),
  };
  await answerAsPlatform(simulation.world, request, outgoing);
}

/** Records the request on arrival, applies a fault, and adds the reply's status to the record. */
async function answerAsPlatform(world: World, request: PlatformRequest, outgoing: ServerResponse): Promise<void> {
  const record: RecordedRequest = {
    method: request.method,
    path: request.path,
    query: Object.fromEntries([...request.query].filter(([name]) => !/^(?:access_token|client_secret)$/.test(name))),
    body: recordedBody(request),
    status: null,
    received_at: new Date(world.clock.nowMs()).toISOString(),
  };
  world.requests.add(record);
  const exchange = world.exchanges.add(record);
  const numberId = sendingNumberOf(world, request);
  if (numberId !== undefined) world.sending.called(numberId, world.clock.nowMs());
  const fault = world.faults.take(request, recipientOf(request.body));
  const carryOut = () => answerPlatform(world, request);
  const context = { path: request.path, traceId: world.nextTraceId, wait: request.wait };
  const reply = fault === undefined ? await carryOut() : await applyFault(fault, context, carryOut);
  if (reply.kind !== 'closed') record.status = reply.status;
  world.exchanges.answer(exchange, reply);
  noteRefused(world, exchange, { to: recipientOf(request.body), reply });
  if (numberId !== undefined && isThrottling(reply)) world.sending.throttled(numberId, world.clock.nowMs());
  write(reply, outgoing, { traceId: world.nextTraceId(), path: request.path });
}

function sendingNumberOf(world: World, { method, path }: PlatformRequest): string | undefined {
  const [, numberId] = /\/([^/]+)\/(?:marketing_)?messages\/?$/.exec(path) ?? [];
  return method === 'POST' && numberId !== undefined && world.numbers.has(numberId) ? numberId : undefined;
}

function isThrottling(reply: Reply): boolean {
  if (reply.kind !== 'json') return false;
  return (reply.body as { readonly error?: { readonly code?: unknown } }).error?.code === 130429;
}

function recordedBody({ body, bytes, file }: PlatformRequest): unknown {
  if (bytes.byteLength > 0) return { bytes: bytes.byteLength };
  if (file === undefined) return body ?? null;
  return { ...(body as object), file: { type: file.type, bytes: file.bytes.byteLength } };
}

function recipientOf(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { to, recipient } = body as { readonly to?: unknown; readonly recipient?: unknown };
  const given = to ?? recipient;
  return typeof given === 'string' ? recipientKey(given) : undefined;
}

function write(
  reply: Reply,
  outgoing: ServerResponse,
  facts: { readonly traceId: string; readonly path: string },
): void {
  if (reply.kind === 'closed') {
    outgoing.destroy();
  } else if (reply.kind === 'html') {
    outgoing.writeHead(reply.status, { 'content-type': 'text/html' }).end(reply.html);
  } else if (reply.kind === 'bytes') {
    outgoing.writeHead(reply.status, { 'content-type': reply.type }).end(reply.bytes);
  } else {
    const text = JSON.stringify(reply.body);
    outgoing.writeHead(reply.status, {
      'content-type': 'application/json; charset=UTF-8',
      'content-length': Buffer.byteLength(text),
      'facebook-api-version': /^\/(v\d+\.\d+)\//.exec(facts.path)?.[1] ?? newestVersion,
      'x-fb-trace-id': facts.traceId,
      ...reply.headers,
    });
    outgoing.end(text);
  }
}

function waitUnlessGone(ms: number, outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      outgoing.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    outgoing.once('close', done);
  });
}
