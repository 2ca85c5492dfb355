import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answered, type Gateway, startGateway } from '../../infra/local/gateway.ts';
import type { LocalTemplate } from '../../infra/local/local-template.ts';
import { createRunner, type ProcessRunner } from '../../infra/local/runner.ts';
import { tinyFunctions } from '../support/tiny-functions.ts';

/**
 * The gateway stands before real function processes. `answers` returns the JSON of the request's body, `echo` returns
 * its event; the authorizer obeys the token and counts its calls.
 */
const tiny = tinyFunctions({
  echo: 'export const handler = async (event) => ({ statusCode: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(event) });',
  answers: `export const handler = async (event) => {
    const wish = JSON.parse(event.body);
    if (wish.throw) throw new Error(wish.throw);
    if (wish.exit) process.exit(1);
    if (wish.megabytes) Buffer.alloc(wish.megabytes * 1024 * 1024, 1);
    if (wish.hang) await new Promise(() => setInterval(() => {}, 1000));
    return wish.answer;
  };`,
  slow: 'await new Promise((resolve) => setTimeout(resolve, 2_500)); export const handler = async () => "started";',
  guard: `let asked = 0;
    export const handler = async (event) => {
      const token = event.identitySource[0];
      asked += 1;
      if (token === 'crash') process.exit(1);
      if (token === 'hang') await new Promise(() => setInterval(() => {}, 1000));
      return { isAuthorized: token !== 'deny', context: { token, asked: String(asked) } };
    };`,
});

const template: Pick<LocalTemplate, 'routes' | 'authorizers' | 'cors'> = {
  routes: [
    { method: 'POST', path: '/answers', functionId: 'answers' },
    { method: 'POST', path: '/echo', functionId: 'echo' },
    { method: 'GET', path: '/things/{id}', functionId: 'echo' },
    { method: 'GET', path: '/guarded', functionId: 'echo', authorizerId: 'Guard' },
    { method: 'POST', path: '/guarded/{id}', functionId: 'echo', authorizerId: 'Guard' },
  ],
  authorizers: {
    Guard: { functionId: 'guard', identitySources: ['$request.header.Authorization'], cacheTtlSeconds: 300 },
  },
  cors: { allowOrigins: [], allowMethods: ['GET'], allowHeaders: [], exposeHeaders: [], maxAgeSeconds: 1 },
};

const answers: Answered[] = [];
const clock = { nowMs: Date.UTC(2026, 0, 2) };
let runner: ProcessRunner;
let gateway: Gateway;

beforeAll(async () => {
  runner = createRunner({ functions: tiny.functions, environment: { AWS_REGION: 'us-east-1' } });
  gateway = await startGateway({
    template,
    invoke: runner.invoke,
    region: 'us-east-1',
    port: 0,
    nowMs: () => clock.nowMs,
    integrationTimeoutMs: 3_000,
    authorizerTimeoutMs: 3_000,
    alsoAllowsOrigin: (origin) => origin === 'http://page.test',
    onAnswer: (answered) => answers.push(answered),
  });
});
afterAll(async () => {
  await gateway.stop();
  await runner.stop();
  tiny.remove();
});

async function call(method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${gateway.url}${path}`, { method, ...init });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function eventOf(method: string, path: string, init: RequestInit = {}) {
  const { status, text } = await call(method, path, init);
  expect(status).toBe(200);
  return JSON.parse(text);
}

function guarded(token: string) {
  return call('GET', '/guarded', { headers: { authorization: token } });
}

async function expectGatewayBody(reply: Promise<{ status: number; text: string }>, status: number, message: string) {
  const { status: given, text } = await reply;
  expect({ status: given, text }).toEqual({ status, text: JSON.stringify({ message }) });
}

describe('the event', () => {
  it('carries the request over the wire in payload format 2.0', async () => {
    const event = await eventOf('GET', '/things/a%2Fb?client_id=1&client_id=2&q=%C3%A9', {
      headers: { cookie: 'a=1; b=2', 'user-agent': 'probe' },
    });
    expect(event).toMatchObject({
      version: '2.0',
      routeKey: 'GET /things/{id}',
      rawPath: '/things/a/b',
      rawQueryString: 'client_id=1&client_id=2&q=%C3%A9',
      cookies: ['a=1', 'b=2'],
      queryStringParameters: { client_id: '1,2', q: 'é' },
      pathParameters: { id: 'a/b' },
      isBase64Encoded: false,
      requestContext: {
        http: { method: 'GET', path: '/things/a/b', protocol: 'HTTP/1.1', sourceIp: '127.0.0.1', userAgent: 'probe' },
        stage: '$default',
        time: '02/Jan/2026:00:00:00 +0000',
        timeEpoch: clock.nowMs,
      },
    });
    expect(event).not.toHaveProperty('body');
  });

  it.each([
    ['application/json', '{"a":1}', false],
    [undefined, 'eyJhIjoxfQ==', true],
  ])('has a body of type %s as %s (R7)', async (contentType, body, isBase64Encoded) => {
    const init = {
      body: Buffer.from('{"a":1}'),
      headers: contentType === undefined ? {} : { 'content-type': contentType },
    };
    expect(await eventOf('POST', '/echo', init)).toMatchObject({ body, isBase64Encoded });
  });
});

describe('the answer', () => {
  const answered = (answer: unknown) =>
    call('POST', '/answers', { body: JSON.stringify({ answer }), headers: { 'content-type': 'application/json' } });

  it('is the one the function gave, with headers, cookies and decoded body', async () => {
    const reply = await answered({
      statusCode: 201,
      headers: { 'X-Thing': 'a', 'Content-Length': '999' },
      cookies: ['a=1; Path=/', 'b=2'],
      body: 'w6k=',
      isBase64Encoded: true,
    });
    expect(reply).toMatchObject({ status: 201, text: 'é' });
    expect(reply.headers.get('x-thing')).toBe('a');
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.headers.getSetCookie()).toEqual(['a=1; Path=/', 'b=2']);
    expect(reply.headers.get('apigw-requestid')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    [{ ok: true }, 200, '{"ok":true}'],
    [{ statusCode: 200, headers: { broken: 'a\nb' } }, 500, '{"message":"Internal Server Error"}'],
    [{ statusCode: 204 }, 204, ''],
  ])('%j becomes %i %s (R4)', async (answer, status, text) => {
    expect(await answered(answer)).toMatchObject({ status, text });
  });

  it.each([{ throw: 'secret text' }, { exit: true }, { megabytes: 160 }])(
    'of %j is a 500 without internals (R5, R6)',
    async (wish) => {
      await expectGatewayBody(
        call('POST', '/answers', { body: JSON.stringify(wish), headers: { 'content-type': 'text/plain' } }),
        500,
        'Internal Server Error',
      );
    },
  );

  it('starts when the function begins: a process that starts slowly still answers', async () => {
    const { stop, url } = await startGateway({
      template: { routes: [{ method: 'GET', path: '/slow', functionId: 'slow' }], authorizers: {} },
      invoke: runner.invoke,
      region: 'us-east-1',
      port: 0,
      integrationTimeoutMs: 2_000,
    });
    expect(await (await fetch(`${url}/slow`)).text()).toBe('"started"');
    await stop();
  });

  it('that does not come in time is a 503', async () => {
    const init = { body: '{"hang":true}', headers: { 'content-type': 'text/plain' } };
    await expectGatewayBody(call('POST', '/answers', init), 503, 'Service Unavailable');
  });
});

/** Sends exactly these headers, because `fetch` adds some of its own. */
async function send(method: string, headers: Readonly<Record<string, string>>) {
  const reply = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(`${gateway.url}/things/1`, { method, headers }, resolve).on('error', reject).end();
  });
  const allowed = reply.headers['access-control-allow-origin'];
  return { status: reply.statusCode, allowed, text: (await reply.toArray()).join('') };
}

describe('the gateway itself', () => {
  it.each([
    ['GET', '/nowhere'],
    ['DELETE', '/things/1'],
    ['OPTIONS', '/things/1'],
  ])('answers 404 to %s %s', async (method, path) => {
    await expectGatewayBody(call(method, path), 404, 'Not Found');
  });

  it('answers 400 to a path with malformed percent-encoding', async () => {
    await expectGatewayBody(call('GET', '/things/%zz'), 400, 'Bad Request');
  });

  it('answers 413 to a body over 10 MB, and to an event over the limit of Lambda (R11)', async () => {
    const send = (bytes: number, contentType: string) =>
      call('POST', '/echo', { body: Buffer.alloc(bytes, 'x'), headers: { 'content-type': contentType } });
    await expectGatewayBody(send(10 * 1024 * 1024 + 1, 'text/plain'), 413, 'Request Entity Too Large');
    await expectGatewayBody(send(6_291_556, 'text/plain'), 413, 'Request Entity Too Large');
    await expectGatewayBody(send(4_720_000, 'application/octet-stream'), 413, 'Request Entity Too Large');
  });

  it('judges the size of a body before anything else', async () => {
    const init = { body: Buffer.alloc(10 * 1024 * 1024 + 1), headers: { 'content-type': 'text/plain' } };
    await expectGatewayBody(call('POST', '/guarded/1', init), 413, 'Request Entity Too Large');
  });

  it('hands on what fits', async () => {
    const reply = await call('POST', '/answers', {
      body: JSON.stringify({ answer: { statusCode: 200, body: 'taken' }, padding: 'x'.repeat(4_700_000) }),
      headers: { 'content-type': 'application/json' },
    });
    expect(reply).toMatchObject({ status: 200, text: 'taken' });
  });

  it.each([10_100, 60_000, 70_000])('answers 431 to a header of %i bytes only beyond its limit', async (bytes) => {
    const status = await new Promise((resolve, reject) => {
      httpRequest(`${gateway.url}/things/1`, { headers: { long: 'x'.repeat(bytes) } }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(bytes > 10_240 ? 431 : 200);
  });

  it.each([
    ['localhost:3000', 200],
    ['[::1]:3000', 200],
    ['rebound.example:3000', 403],
    ['127.0.0.1@evil.example', 403],
  ])('answers a request under the name %j with %i: only names of this machine may be used', async (host, status) => {
    const preflight = { origin: 'http://page.test', 'access-control-request-method': 'GET' };
    const got = await send('GET', { host });
    const asked = await send('OPTIONS', { host, ...preflight });
    if (status === 200) {
      expect([got.status, asked.status, asked.allowed]).toEqual([200, 204, 'http://page.test']);
    } else {
      const message = 'refused: the Host header is no loopback name (localhost, 127.0.0.1, [::1])';
      const refused = { status, allowed: undefined, text: JSON.stringify({ message }) };
      expect([got, asked]).toEqual([refused, refused]);
    }
  });

  it('answers 400 to what is not HTTP, and lives on', async () => {
    const { port } = new URL(gateway.url);
    const reply = await new Promise<string>((resolve, reject) => {
      let text = '';
      connect(Number(port), '127.0.0.1')
        .on('data', (chunk) => {
          text += chunk.toString();
        })
        .on('end', () => resolve(text))
        .on('error', reject)
        .end('nonsense\r\n\r\n');
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 .*\{"message":"Bad Request"\}$/s);
    expect((await call('GET', '/things/1')).status).toBe(200);
  });
});

describe('the authorizer', () => {
  it('lets through with its context', async () => {
    const event = JSON.parse((await guarded('allow-1')).text);
    expect(event.requestContext.authorizer.lambda).toMatchObject({ token: 'allow-1' });
  });

  it.each([
    ['deny', 403, 'Forbidden'],
    ['crash', 500, 'Internal Server Error'],
    ['hang', 500, 'Internal Server Error'],
  ])('that does %s gives %i (R35)', async (token, status, message) => {
    await expectGatewayBody(guarded(token), status, message);
  });

  it('is not asked without a token', async () => {
    const before = runner.instances().filter(({ functionId }) => functionId === 'guard').length;
    await expectGatewayBody(call('GET', '/guarded'), 401, 'Unauthorized');
    await expectGatewayBody(call('POST', '/guarded/1'), 401, 'Unauthorized');
    expect(runner.instances().filter(({ functionId }) => functionId === 'guard')).toHaveLength(before);
  });

  it('is called again only after the TTL, so a handler must check the expiry itself (R34)', async () => {
    const asked = async (reply: ReturnType<typeof call>) =>
      JSON.parse((await reply).text).requestContext.authorizer.lambda.asked;
    const first = await asked(guarded('cached'));
    clock.nowMs += 299_999;
    expect(await asked(guarded('cached'))).toBe(first);
    const onOtherRoute = call('POST', '/guarded/1', { headers: { authorization: 'cached' } });
    expect(await asked(onOtherRoute)).toBe(first);
    clock.nowMs += 1;
    expect(await asked(guarded('cached'))).not.toBe(first);
  });
});

it('closes its port and every connection when stopped', async () => {
  const own = await startGateway({
    template: { routes: [], authorizers: {} },
    invoke: runner.invoke,
    region: 'us-east-1',
    port: 0,
  });
  const { port } = new URL(own.url);
  const socket = connect(Number(port), '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('error', () => undefined);
  await own.stop();
  await closed;
  await expect(fetch(own.url)).rejects.toThrow();
});

it('tells of every request that it answers, without the query', async () => {
  answers.length = 0;
  await call('GET', '/things/7?secret=1');
  await call('GET', '/nothing');
  expect(answers).toEqual([
    { method: 'GET', path: '/things/7', status: 200, body: expect.any(Buffer), durationMs: expect.any(Number) },
    { method: 'GET', path: '/nothing', status: 404, body: expect.any(Buffer), durationMs: expect.any(Number) },
  ]);
});
