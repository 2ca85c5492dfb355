import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { metered } from '../../../lib/observe/metrics.ts';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';

const open: { close(): unknown }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function platformThat(answers: RequestListener) {
  const port = await listening(createServer(answers));
  return platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 300 });
}

async function failureOf(call: Promise<unknown>): Promise<PlatformFailure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PlatformFailure) return error;
  throw new Error(`no PlatformFailure but ${String(error)}`);
}

const send = { method: 'POST', path: '1/messages', body: { to: '1' }, accessToken: 'token' } as const;

describe('what is known after a call that did not succeed', () => {
  test('a refused connection was not sent', async () => {
    const port = await listening(createServer());
    open.pop()?.close();
    const call = platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 300 });
    expect((await failureOf(call(send))).kind).toBe('not_sent');
  });

  test('a name that does not resolve was not sent', async () => {
    const call = platformTransport({ baseUrl: 'http://nowhere.invalid', version: 'v25.0', timeoutMs: 3_000 });
    expect((await failureOf(call(send))).kind).toBe('not_sent');
  });

  test('a TLS handshake that fails was not sent', async () => {
    const port = await listening(createTcpServer((socket) => socket.end('this is not TLS')));
    const call = platformTransport({ baseUrl: `https://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 300 });
    expect((await failureOf(call(send))).kind).toBe('not_sent');
  });

  test('a connection that ends after the request went out is ambiguous', async () => {
    const call = await platformThat((request) => request.socket.destroy());
    expect((await failureOf(call(send))).kind).toBe('ambiguous');
  });

  test.each(['{"messages":[{"id":"wam', '{}'])(
    'an answer that is cut in the middle is ambiguous: %s',
    async (begun) => {
      const call = await platformThat((request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write(begun, () => request.socket.destroy());
      });
      expect((await failureOf(call(send))).kind).toBe('ambiguous');
    },
  );

  test('a time-out after the request went out is ambiguous', async () => {
    const call = await platformThat(() => undefined);
    expect((await failureOf(call(send))).kind).toBe('ambiguous');
  });

  test('a call that has less time than the transport gives up by itself', async () => {
    const port = await listening(createServer(() => undefined));
    const call = platformTransport({
      baseUrl: `http://127.0.0.1:${port}`,
      version: 'v25.0',
      timeoutMs: 600_000,
    });
    expect((await failureOf(call({ ...send, timeoutMs: 100 }))).kind).toBe('ambiguous');
  });

  test('a reset on a kept connection is ambiguous', async () => {
    let requests = 0;
    const call = await platformThat((request, response) => {
      requests += 1;
      if (requests === 2) request.socket.destroy();
      else response.end('{}');
    });
    await call(send);
    expect((await failureOf(call(send))).kind).toBe('ambiguous');
  });

  const answers = [
    { status: 500, text: '{"error":{"code":131000,"message":"x"}}', kind: 'ambiguous', throttled: false },
    { status: 502, text: '<html>bad gateway</html>', kind: 'ambiguous', throttled: false },
    { status: 400, text: '<html>bad request</html>', kind: 'ambiguous', throttled: false },
    { status: 200, text: 'not json', kind: 'ambiguous', throttled: false },
    { status: 200, text: '[]', kind: 'ambiguous', throttled: false },
    { status: 400, text: '{"error":{"code":132000,"message":"count"}}', kind: 'refused', throttled: false },
    { status: 400, text: '{"error":{"code":130429,"message":"slow"}}', kind: 'refused', throttled: true },
    { status: 400, text: '{"error":{"code":131056,"message":"pair"}}', kind: 'refused', throttled: true },
    { status: 429, text: '', kind: 'refused', throttled: true },
    { status: 401, text: '{"error":{"code":190,"message":"token"}}', kind: 'refused', throttled: false },
  ];
  test.each(answers)('HTTP $status $text is $kind, throttled $throttled', async ({ status, text, kind, throttled }) => {
    const call = await platformThat((_, response) => response.writeHead(status).end(text));
    const failure = await failureOf(call(send));
    expect({ kind: failure.kind, throttled: failure.throttled }).toEqual({ kind, throttled });
  });

  test('our own credential refused is told apart', async () => {
    const call = await platformThat((_, response) => response.writeHead(401).end('{"error":{"code":190}}'));
    expect((await failureOf(call(send))).credentialRefused).toBe(true);
  });
});

describe('what the platform says', () => {
  test('the text for people, the codes and Retry-After are kept', async () => {
    const call = await platformThat((_, response) =>
      response.writeHead(400, { 'retry-after': '7' }).end(
        JSON.stringify({
          error: { code: 100, error_subcode: 2388024, message: 'Invalid parameter', error_user_msg: 'Taken.' },
        }),
      ),
    );
    expect((await failureOf(call(send))).facts).toEqual({
      httpStatus: 400,
      code: 100,
      subcode: 2388024,
      userMessage: 'Taken.',
      retryAfterSeconds: 7,
    });
  });

  test('the details of a messaging error are the text', async () => {
    const call = await platformThat((_, response) =>
      response.writeHead(400).end('{"error":{"code":132000,"message":"m","error_data":{"details":"body: 1 of 3"}}}'),
    );
    expect((await failureOf(call(send))).facts.userMessage).toBe('body: 1 of 3');
  });

  test('a call carries version, query, bearer token and JSON body', async () => {
    let seen: unknown;
    const call = await platformThat((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        seen = { method: request.method, url: request.url, authorization: request.headers.authorization, body };
        response.end('{"ok":true}');
      });
    });
    const reply = await call({ ...send, query: { fields: 'id,name' } });
    expect(reply).toEqual({ body: { ok: true } });
    expect(seen).toEqual({
      method: 'POST',
      url: '/v25.0/1/messages?fields=id%2Cname',
      authorization: 'Bearer token',
      body: '{"to":"1"}',
    });
  });
});

describe('connections', () => {
  /** A platform that notes the connection of each request, by number. */
  async function noting(answers: RequestListener = (_, response) => response.end('{}')) {
    const sockets: unknown[] = [];
    const used: number[] = [];
    const call = await platformThat((request, response) => {
      if (!sockets.includes(request.socket)) sockets.push(request.socket);
      used.push(sockets.indexOf(request.socket));
      answers(request, response);
    });
    return { call, used };
  }

  test('one is used again within an invocation, and never in the next: it may have slept', async () => {
    const { call, used } = await noting();
    for (const _ of ['one', 'two']) {
      await metered(async () => {
        await call(send);
        await call(send);
      });
    }
    expect(used).toEqual([0, 0, 1, 1]);
  });

  test('one that is in use while the next invocation begins answers its call, and is then not kept', async () => {
    const held = Promise.withResolvers<void>();
    let requests = 0;
    const { call, used } = await noting(async (_, response) => {
      requests += 1;
      if (requests === 1) await held.promise;
      response.end(`{"request":${requests}}`);
    });
    const abandoned = metered(() => call(send));
    await metered(async () => {
      await call(send);
      held.resolve();
      expect(await abandoned).toEqual({ body: { request: 2 } });
      await call(send);
    });
    expect(used).toEqual([0, 1, 1]);
  });
});

test.each([
  ['{"1":[{"type":"whatsapp_business_management","call_count":7},{"type":"whatsapp","call_count":42}]}', 42],
  ['{"1":[{"type":"whatsapp","call_count":3}],"2":[{"type":"whatsapp","call_count":100}]}', 100],
  ['{"1":[{"type":"whatsapp_business_management","call_count":100}]}', undefined],
  ['{"1":[{"type":"whatsapp","call_count":"many"}]}', undefined],
  ['no JSON', undefined],
  [undefined, undefined],
])('a usage header of %s says that %s %% of the calls for messages are used up', async (header, usagePercent) => {
  const call = await platformThat((_, response) => {
    if (header !== undefined) response.setHeader('x-business-use-case-usage', header);
    response.end('{"messages":[]}');
  });
  expect(await call(send)).toEqual({ body: { messages: [] }, ...(usagePercent === undefined ? {} : { usagePercent }) });
});
