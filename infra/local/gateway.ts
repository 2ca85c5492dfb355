import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { closeAtOnce, hasLoopbackHost, openOnLoopback } from '../loopback.ts';
import { createAuthorizer, type Verdict } from './authorizer.ts';
import { type Cors, corsOf } from './cors.ts';
import { answerOfFunction, foreignHostAnswer, gatewayAnswer, type HttpAnswer } from './http-answer.ts';
import { headBytes, httpEvent, type IncomingRequest, maxHeadBytes, withAuthorizerContext } from './http-event.ts';
import type { InvocationResult } from './invocation-result.ts';
import type { LocalTemplate } from './local-template.ts';
import { createRouter, type RouteMatch } from './router.ts';
import type { FunctionRunner } from './runner.ts';
import { startTimeLimit, type TimeLimit } from './time-limit.ts';

export interface GatewayOptions {
  readonly template: Pick<LocalTemplate, 'routes' | 'authorizers' | 'cors'>;
  readonly invoke: FunctionRunner['invoke'];
  readonly region: string;
  /** 0 takes any free port. */
  readonly port: number;
  readonly nowMs?: () => number;
  readonly alsoAllowsOrigin?: (origin: string) => boolean;
  /**
   * API Gateway gives a function 30 s and an authorizer 10 s; tests shorten both. The time starts when a process begins
   * the request, so a busy machine takes none of it.
   */
  readonly integrationTimeoutMs?: number;
  readonly authorizerTimeoutMs?: number;
  readonly stageVariables?: Readonly<Record<string, string>>;
  readonly onAnswer?: (answered: Answered) => void;
}

export interface Answered {
  readonly method: string;
  /** The path has no query. */
  readonly path: string;
  readonly status: number;
  readonly body: Buffer;
  readonly durationMs: number;
}

export interface Gateway {
  readonly url: string;
  stop(): Promise<void>;
}

type Route = LocalTemplate['routes'][number];

const maxBodyBytes = 10 * 1024 * 1024;

/**
 * Serves API Gateway's HTTP API on 127.0.0.1. A head over 10,240 bytes answers 431: AWS documents only the limit, users
 * report the status, `infra/ops check --smoke` replays it. Unlike AWS it refuses foreign host names, against DNS
 * rebinding by pages.
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { template, alsoAllowsOrigin, onAnswer } = options;
  const serving = { answer: createAnswerer(options), cors: corsOf(template.cors, alsoAllowsOrigin), onAnswer };
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (incoming, outgoing) => {
    void serve(incoming, outgoing, serving);
  });
  server.on('clientError', refuseUnreadable);
  const port = await openOnLoopback(server, options.port);
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => closeAtOnce(server),
  };
}

interface Serving {
  readonly answer: Answerer;
  readonly cors: Cors;
  readonly onAnswer: GatewayOptions['onAnswer'];
}

async function serve(incoming: IncomingMessage, outgoing: ServerResponse, serving: Serving): Promise<void> {
  const { answer, cors, onAnswer } = serving;
  const requestId = randomUUID();
  const startedMs = performance.now();
  const asked = { method: incoming.method ?? 'GET', headers: incoming.headers };
  const write = (given: HttpAnswer) => {
    writeAnswer(outgoing, given, requestId);
    const [path = '/'] = (incoming.url ?? '/').split('?');
    const { status, body } = given;
    onAnswer?.({ method: asked.method, path, status, body, durationMs: performance.now() - startedMs });
  };
  try {
    const request = await readRequest(incoming);
    if (!hasLoopbackHost(incoming.headers)) return write(foreignHostAnswer);
    const answered = async () => (request === 'too_large' ? gatewayAnswer(413) : await answer(request, requestId));
    write(cors.preflight(asked) ?? cors.completed(await answered(), asked));
  } catch (error) {
    // A disconnected client needs no answer; other errors are faults of this gateway.
    if (incoming.errored !== null) return;
    console.error('the local gateway could not answer:', error);
    write(cors.completed(gatewayAnswer(500), asked));
  }
}

type Answerer = (request: IncomingRequest, requestId: string) => Promise<HttpAnswer>;

function createAnswerer(options: GatewayOptions): Answerer {
  const nowMs = options.nowMs ?? Date.now;
  const routeOf = createRouter(options.template.routes);
  const authorizers = authorizersOf(options, nowMs);

  return async (request, requestId) => {
    if (headBytes(request) > maxHeadBytes) return gatewayAnswer(431);
    const match = matchOrMalformed(routeOf, request);
    if (match === 'malformed') return gatewayAnswer(400);
    if (match === undefined) return gatewayAnswer(404);

    const { route, routeKey, pathParameters } = match;
    const { stageVariables } = options;
    let event = httpEvent(request, { routeKey, pathParameters, requestId, stageVariables, nowMs: nowMs() });
    if (route.authorizerId !== undefined) {
      const verdict = await authorizers(route.authorizerId, event);
      if (verdict.kind !== 'allowed') return refusalOf(verdict.kind);
      event = withAuthorizerContext(event, verdict.context);
    }
    const result = await within(options.integrationTimeoutMs ?? 30_000, (onBegan) =>
      options.invoke(route.functionId, event, onBegan),
    );
    if (result === 'late') return gatewayAnswer(503);
    if (result.ok) return answerOfFunction(result.payload);
    return gatewayAnswer(result.error === 'payload_too_large' ? 413 : 500);
  };
}

function matchOrMalformed(
  routeOf: ReturnType<typeof createRouter<Route>>,
  request: IncomingRequest,
): RouteMatch<Route> | undefined | 'malformed' {
  try {
    return routeOf(request.method, request.rawPath);
  } catch (error) {
    if (error instanceof URIError) return 'malformed';
    throw error;
  }
}

function authorizersOf(options: GatewayOptions, nowMs: () => number) {
  const late: InvocationResult = { ok: false, error: 'timeout', message: 'the authorizer was too slow' };
  const byId = new Map(
    Object.entries(options.template.authorizers).map(([id, definition]) => [
      id,
      createAuthorizer({
        definition,
        region: options.region,
        nowMs,
        ask: async (event) => {
          const result = await within(options.authorizerTimeoutMs ?? 10_000, (onBegan) =>
            options.invoke(definition.functionId, event, onBegan),
          );
          return result === 'late' ? late : result;
        },
      }),
    ]),
  );
  return async (id: string, event: APIGatewayProxyEventV2): Promise<Verdict> => {
    const authorizer = byId.get(id);
    if (authorizer === undefined) throw new Error(`the template has no authorizer ${id}`);
    return authorizer(event);
  };
}

function refusalOf(kind: Exclude<Verdict['kind'], 'allowed'>): HttpAnswer {
  return gatewayAnswer(({ unauthorized: 401, forbidden: 403, failed: 500 } as const)[kind]);
}

async function within<T>(ms: number, run: (onBegan: () => void) => Promise<T>): Promise<T | 'late'> {
  let limit: TimeLimit | undefined;
  const late = Promise.withResolvers<'late'>();
  const onBegan = () => {
    limit = startTimeLimit(ms, () => late.resolve('late'));
  };
  try {
    return await Promise.race([run(onBegan), late.promise]);
  } finally {
    limit?.end();
  }
}

/** A body over the limit is read to its end too, so that the client receives the answer. */
async function readRequest(incoming: IncomingMessage): Promise<IncomingRequest | 'too_large'> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes <= maxBodyBytes) chunks.push(chunk);
  }
  if (bytes > maxBodyBytes) return 'too_large';
  const [rawPath = '/', ...query] = (incoming.url ?? '/').split('?');
  return {
    method: incoming.method ?? 'GET',
    rawPath,
    rawQueryString: query.join('?'),
    protocol: `HTTP/${incoming.httpVersion}`,
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks),
    sourceIp: incoming.socket.remoteAddress ?? '127.0.0.1',
  };
}

function writeAnswer(outgoing: ServerResponse, answer: HttpAnswer, requestId: string): void {
  outgoing.writeHead(answer.status, {
    ...answer.headers,
    'content-length': answer.body.byteLength,
    'apigw-requestid': requestId,
    ...(answer.cookies.length === 0 ? {} : { 'set-cookie': [...answer.cookies] }),
  });
  outgoing.end(answer.body);
}

/** Refuses requests with a head too large to parse, or that are not HTTP. */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable) return;
  const { status, body } = gatewayAnswer(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400);
  socket.end(
    `HTTP/1.1 ${status} \r\ncontent-type: application/json\r\ncontent-length: ${body.byteLength}\r\nconnection: close\r\n\r\n${body}`,
  );
}
