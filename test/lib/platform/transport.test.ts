import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { ReplyTooLarge } from '../../../lib/aws/whole-reply.ts';
import { platformTransport } from '../../../lib/platform/transport.ts';
import { countedBy } from '../../support/counted.ts';
import { closeServers, failureOf, listening, platformThat, send } from './local-platform.ts';

// Every call ends within a second, so a call that never ends fails soon.
vi.setConfig({ testTimeout: 10_000 });

afterEach(closeServers);

describe('what is known after a call that did not succeed', () => {
  test('a refused connection was not sent', async () => {
    const port = await listening(createServer());
    closeServers();
    const call = platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 300 });
    expect(await failureOf(call(send))).toMatchObject({ kind: 'not_sent', cause: { code: 'ECONNREFUSED' } });
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
      expect(await failureOf(call(send))).toMatchObject({ kind: 'ambiguous', cause: { code: 'ECONNRESET' } });
    },
  );

  test('an answer that is longer than the transport takes is ambiguous, and not read to its end', async () => {
    const closed = Promise.withResolvers<void>();
    const endless: RequestListener = (_, response) => {
      response.on('close', closed.resolve).write('{"a":1234}');
      setTimeout(() => response.write(' '), 10);
    };
    const failure = await failureOf((await platformThat(endless, { maxReplyBytes: 10, timeoutMs: 60_000 }))(send));
    expect(failure).toMatchObject({ kind: 'ambiguous', cause: { name: 'ReplyTooLarge', message: 'reply too large' } });
    expect(failure.cause).toBeInstanceOf(ReplyTooLarge);
    await closed.promise;
  });

  test('one that is as long as that is read', async () => {
    const call = await platformThat((_, response) => response.end('{"a":1234}'), { maxReplyBytes: 10 });
    expect(await call(send)).toEqual({ body: { a: 1_234 } });
  });

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

  test('a call that has more time than the transport gets no more of it', async () => {
    const call = await platformThat(() => undefined);
    expect((await failureOf(call({ ...send, timeoutMs: 600_000 }))).kind).toBe('ambiguous');
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
    { status: 200, text: 'null', kind: 'ambiguous', throttled: false },
    { status: 200, text: '7', kind: 'ambiguous', throttled: false },
    { status: 300, text: '{}', kind: 'ambiguous', throttled: false },
    { status: 399, text: '{"error":{"code":132000}}', kind: 'ambiguous', throttled: false },
    { status: 499, text: '{"error":{"code":132000}}', kind: 'refused', throttled: false },
    { status: 400, text: '{"error":{"code":132000,"error_data":"text"}}', kind: 'refused', throttled: false },
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
    expect(failure.facts.httpStatus).toBe(status);
  });

  test('an error of our own is no failure of the platform', async () => {
    const call = await platformThat((_, response) => response.end('{}'));
    let error: unknown;
    const lines = await countedBy(async () => {
      error = await call({ ...send, body: 1n }).catch((reason: unknown) => reason);
    });
    expect([error, lines]).toEqual([expect.any(TypeError), []]);
  });

  test.each<[number, string, string, object]>([
    [400, '{"error":{"code":132000}}', '132000', {}],
    [429, '', 'throttled', {}],
    [401, '{"error":{"code":190}}', '190', { PlatformCredentialRefused: 1, wabaIds: ['2000'] }],
    [401, '{"error":{"code":131049}}', '131049', {}],
  ])('HTTP %i %s is counted as %s, once, and as nothing else', async (status, text, code, more) => {
    const call = await platformThat((_, response) => response.writeHead(status).end(text));
    const lines = await countedBy(() => failureOf(call({ ...send, wabaId: '2000' })));
    const counted = lines.map(({ _aws, service, ...counts }) => counts);
    expect(counted).toEqual([{ ...more, code, PlatformErrors: 1 }]);
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

  test.each(['"text"', '{"details":7}', '{}', 'null'])(
    'without them, the message is: error_data %s',
    async (errorData) => {
      const call = await platformThat((_, response) =>
        response.writeHead(400).end(`{"error":{"code":132000,"message":"m","error_data":${errorData}}}`),
      );
      expect((await failureOf(call(send))).facts).toEqual({ httpStatus: 400, code: 132000, userMessage: 'm' });
    },
  );

  test.each(['0', '-1', 'soon', 'Infinity'])('a Retry-After of %s says nothing', async (retryAfter) => {
    const call = await platformThat((_, response) => response.writeHead(429, { 'retry-after': retryAfter }).end());
    expect((await failureOf(call(send))).facts).toEqual({ httpStatus: 429 });
  });

  test('a call carries version, query, bearer token and JSON body', async () => {
    let seen: unknown;
    const call = await platformThat((request, response) => {
      let body = '';
      request.on('data', (chunk) => (body += chunk));
      request.on('end', () => {
        seen = { method: request.method, url: request.url, headers: request.headers, body };
        response.end('{"ok":true}');
      });
    });
    const reply = await call({ ...send, query: { fields: 'id,name' } });
    expect(reply).toEqual({ body: { ok: true } });
    expect(seen).toMatchObject({
      method: 'POST',
      url: '/v25.0/1/messages?fields=id%2Cname',
      headers: {
        authorization: 'Bearer token',
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': '10',
      },
      body: '{"to":"1"}',
    });
    await call({ ...send, body: Buffer.from('bytes'), authorization: 'OAuth', headers: { file_offset: '0' } });
    expect(seen).toMatchObject({
      headers: { authorization: 'OAuth token', 'content-type': 'application/octet-stream', file_offset: '0' },
      body: 'bytes',
    });
    await call({ method: 'GET', path: '1/message_templates', accessToken: 'token' });
    expect(seen).toMatchObject({ method: 'GET', url: '/v25.0/1/message_templates', body: '' });
    expect(seen).not.toHaveProperty(['headers', 'content-type']);
  });
});

describe('the usage header', () => {
  const usage = (...minutes: unknown[]) =>
    JSON.stringify({ 1: minutes.map((each) => ({ call_count: 100, estimated_time_to_regain_access: each })) });

  async function factsOf(code: number, headers: Readonly<Record<string, string>>) {
    const call = await platformThat((_, response) => {
      response.writeHead(400, headers).end(JSON.stringify({ error: { code } }));
    });
    return (await failureOf(call(send))).facts;
  }

  test.each([
    [4, usage(19), 1_140],
    [80007, usage(0, 19), 1_140],
    [80008, usage(19, 0.5), 1_140],
    [80007, usage(0.5), 30],
    [80007, usage(0), undefined],
    [80007, usage(-1), undefined],
    [80007, usage('soon'), undefined],
    [80007, usage(null, 2), 120],
    [80007, usage(1_440), 86_400],
    [80007, usage(1_441), undefined],
    [80007, '{"1":[{"type":"whatsapp"}]}', undefined],
    [80007, '{"1":[{"estimated_time_to_regain_access":3}],"2":[{"estimated_time_to_regain_access":5}]}', 300],
    [80007, '{"1":[]}', undefined],
    [80007, '{}', undefined],
    [80007, 'no JSON', undefined],
    [130429, usage(19), undefined],
    [131056, usage(19), undefined],
    [131000, usage(19), undefined],
  ])('of a refusal %i, %s: access comes back after %s seconds', async (code, header, retryAfterSeconds) => {
    const facts = await factsOf(code, { 'x-business-use-case-usage': header });
    expect(facts).toEqual({ httpStatus: 400, code, retryAfterSeconds });
  });

  test('Retry-After counts before it', async () => {
    const facts = await factsOf(80007, { 'x-business-use-case-usage': usage(19), 'retry-after': '7' });
    expect(facts).toMatchObject({ retryAfterSeconds: 7 });
  });

  test.each([
    ['{"1":[{"type":"whatsapp_business_management","call_count":7},{"type":"whatsapp","call_count":42}]}', 42],
    ['{"1":[{"type":"whatsapp","call_count":3}],"2":[{"type":"whatsapp","call_count":100}]}', 100],
    ['{"1":[{"type":"whatsapp_business_management","call_count":100}]}', undefined],
    ['{"1":[{"type":"whatsapp","call_count":"many"}]}', 0],
    ['{"1":[{"type":"whatsapp"}]}', 0],
    ['no JSON', undefined],
    [undefined, undefined],
  ])('of an answer, %s: %s %% of the calls for messages are used up', async (header, usagePercent) => {
    const call = await platformThat((_, response) => {
      if (header !== undefined) response.setHeader('x-business-use-case-usage', header);
      response.end('{"messages":[]}');
    });
    expect(await call(send)).toEqual({
      body: { messages: [] },
      usagePercent,
    });
  });
});
