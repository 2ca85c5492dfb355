import { afterEach, describe, expect, test } from 'vitest';
import type { PublicNetwork } from '../../../../lib/http/request-network.ts';
import { postPublic } from '../../../../lib/webhooks/delivery/post-network.ts';
import type { PostAnswer } from '../../../../lib/webhooks/delivery/post-result.ts';
import { type Answer, type Receiver, startReceiver } from '../../../support/tls-receiver.ts';

const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function receiverThat(answer: Answer): Promise<Receiver> {
  const receiver = await startReceiver(answer);
  open.push(receiver);
  return receiver;
}

const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1800000000', 'webhook-signature': 'v1,x' };
const post = { url: 'https://media.example.com/hook?a=1', headers, body: '{"a":"☃"}', totalMs: 10_000 };

async function answerOf(answer: Answer, changes: Partial<typeof post> = {}): Promise<PostAnswer> {
  const { network } = await receiverThat(answer);
  return await postPublic({ ...post, ...changes }, () => network);
}

test('the body arrives as it is, with the headers of the standard and nothing of ours', async () => {
  const { network, received } = await receiverThat((response) => response.writeHead(204).end());
  expect(await postPublic(post, () => network)).toEqual({ status: 204 });
  expect(received).toEqual([
    {
      method: 'POST',
      path: '/hook?a=1',
      headers: {
        ...headers,
        host: 'media.example.com',
        'user-agent': 'template-messaging',
        'content-type': 'application/json',
        'content-length': '11',
        connection: 'close',
      },
      body: post.body,
    },
  ]);
});

describe('what a receiver answers', () => {
  test.each([200, 201, 400, 404, 410, 500, 503])('%i', async (status) => {
    expect(await answerOf((response) => response.writeHead(status).end('body'))).toEqual({ status });
  });

  test('Retry-After', async () => {
    const answered = await answerOf((response) => response.writeHead(429, { 'retry-after': '30' }).end());
    expect(answered).toEqual({ status: 429, retryAfter: '30' });
  });

  test.each([301, 302, 303, 307, 308])('a redirect with %i is not followed', async (status) => {
    const { network, received } = await receiverThat((response) => {
      response.writeHead(status, { location: post.url }).end();
    });
    expect(await postPublic(post, () => network)).toEqual({ status });
    expect(received).toHaveLength(1);
  });

  test('a body that never ends is left unread, and closed', async () => {
    const left = Promise.withResolvers<string>();
    const answered = await answerOf((response) => {
      const drip = setInterval(() => response.write('.'), 10);
      response.on('close', () => {
        clearInterval(drip);
        left.resolve('closed');
      });
    });
    expect(answered).toEqual({ status: 200 });
    expect(await left.promise).toBe('closed');
  });

  test.each<[string, Answer]>([
    ['a reset', (response) => response.destroy()],
    ['no HTTP', (response) => response.socket?.end('hello\r\n\r\n')],
    [
      'an upgrade',
      (response) =>
        response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
    ],
  ])('%s', async (_, answer) => {
    expect(await answerOf(answer)).toEqual({ fault: 'no_answer' });
  });

  test('nothing in time', async () => {
    expect(await answerOf(() => undefined, { totalMs: 100 })).toEqual({ fault: 'timeout' });
  });

  test('2xx too late', async () => {
    const given = Promise.withResolvers<void>();
    const answered = answerOf(
      (response) => {
        // The receiver answers once the caller has hung up.
        response.on('close', () => {
          response.writeHead(200).end();
          given.resolve();
        });
      },
      { totalMs: 100 },
    );
    expect(await answered).toEqual({ fault: 'timeout' });
    await given.promise;
  });
});

describe('where it connects (R40)', () => {
  const nowhere: PublicNetwork = {
    lookup: async () => [{ address: '10.0.0.1', family: 4 }],
    isAllowedAddress: () => false,
    connectMs: 50,
  };

  // Which URLs are public is in test/lib/http/public-url.test.ts.
  test.each(['http://example.com/', 'https://10.0.0.1/', 'https://localhost:8443/'])(
    '%s is not looked up',
    async (url) => {
      const lookup = () => Promise.reject(new TypeError('looked up'));
      expect(await postPublic({ ...post, url }, () => ({ ...nowhere, lookup }))).toEqual({ fault: 'not_public' });
    },
  );

  test('port 8443 is looked up, another is not', async () => {
    const on = (url: string) => postPublic({ ...post, url }, () => nowhere);
    expect(await on('https://example.com:8443/')).toEqual({ fault: 'not_public' });
    expect(await on('https://example.com:8080/')).toEqual({ fault: 'refused_port' });
  });

  test('one private address among the answers spoils them all', async () => {
    const { network, received } = await receiverThat((response) => response.end());
    const lookup = async () => [...(await network.lookup('')), { address: '169.254.169.254', family: 4 }];
    expect(await postPublic(post, () => ({ ...network, lookup }))).toEqual({ fault: 'not_public' });
    expect(received).toEqual([]);
  });

  test('a name that leads elsewhere when it is connected is caught before the request is written', async () => {
    const { network, received } = await receiverThat((response) => response.end());
    let judged = 0;
    expect(await postPublic(post, () => ({ ...network, isAllowedAddress: () => ++judged === 1 }))).toEqual({
      fault: 'not_public',
    });
    expect([judged, received.length]).toEqual([2, 0]);
  });

  test('a name that is unknown', async () => {
    const lookup = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await postPublic(post, () => ({ ...nowhere, lookup }))).toEqual({ fault: 'not_found' });
  });

  test.each([
    ['for another name', 'https://other.example.com/hook', {}],
    ['that no authority vouches for', post.url, { ca: '' }],
  ])('a certificate %s is refused', async (_, url, changes) => {
    const { network, received } = await receiverThat((response) => response.end());
    expect(await postPublic({ ...post, url }, () => ({ ...network, ...changes }))).toEqual({ fault: 'no_answer' });
    expect(received).toEqual([]);
  });
});
