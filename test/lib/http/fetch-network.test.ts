import type { RequestListener } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { fetchPublic, type PublicFetchOptions } from '../../../lib/http/fetch-network.ts';
import { Refusal } from '../../../lib/http/refusal.ts';
import type { PublicNetwork } from '../../../lib/http/request-network.ts';
import { certificate, type MediaHost, startMediaHost } from '../../support/media-host.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

async function hostThat(answers: RequestListener): Promise<MediaHost> {
  const host = await startMediaHost(answers);
  open.push(host);
  return host;
}

const here = { address: '127.0.0.1', family: 4 };
const url = 'https://media.example.com/logo.png';

type Changes = Partial<Omit<PublicFetchOptions, 'ports'>> & Partial<PublicNetwork>;

/** Treats 127.0.0.1, and nothing else private, as a public address. */
function optionsFor(port: number, { path, maxBytes, totalMs, ...ports }: Changes = {}): PublicFetchOptions {
  return {
    path: path ?? 'header_source',
    maxBytes: maxBytes ?? 1_000,
    totalMs: totalMs ?? 10_000,
    ports: {
      lookup: async () => [here],
      isAllowedAddress: (address) => address === '127.0.0.1',
      port,
      ca: certificate,
      ...ports,
    },
  };
}

async function refusalOf(fetching: Promise<unknown>): Promise<Refusal> {
  const error = await fetching.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof Refusal) return error;
  throw new Error(`no refusal but ${String(error)}`);
}

async function faultOf(answers: RequestListener, changes: Changes = {}): Promise<string> {
  const { port } = await hostThat(answers);
  const refusal = await refusalOf(fetchPublic(url, optionsFor(port, changes)));
  expect([refusal.status, refusal.details.errors]).toEqual([
    400,
    [{ path: 'header_source', message: refusal.message }],
  ]);
  return refusal.message;
}

describe('a file that is fetched', () => {
  test('bytes and type, asked for by name, uncompressed and without anything of ours', async () => {
    const { port, requests } = await hostThat((_, response) => {
      response.setHeader('content-type', 'Image/PNG ; charset=binary').end(Buffer.from([1, 2, 3]));
    });
    const file = await fetchPublic(`${url}?size=1#part`, optionsFor(port));
    expect(file).toEqual({ bytes: Buffer.from([1, 2, 3]), contentType: 'image/png' });
    expect(requests.map(({ method, url, headers }) => ({ method, url, headers }))).toEqual([
      {
        method: 'GET',
        url: '/logo.png?size=1',
        headers: {
          host: 'media.example.com',
          accept: '*/*',
          'accept-encoding': 'identity',
          'user-agent': 'template-messaging',
          connection: 'close',
        },
      },
    ]);
  });

  test('exactly as large as allowed, of no type', async () => {
    const { port } = await hostThat((_, response) => response.end(Buffer.alloc(1_000)));
    expect(await fetchPublic(url, optionsFor(port))).toEqual({ bytes: Buffer.alloc(1_000) });
  });

  test('IPv4 is taken before IPv6', async () => {
    const { port } = await hostThat((_, response) => response.end('x'));
    const lookup = async () => [{ address: '::1', family: 6 }, here];
    const options = optionsFor(port, { lookup, isAllowedAddress: () => true });
    expect((await fetchPublic(url, options)).bytes.toString()).toBe('x');
  });

  test('packed bytes that do not say so stay packed', async () => {
    const packed = gzipSync(Buffer.alloc(100_000));
    const { port } = await hostThat((_, response) => response.end(packed));
    expect((await fetchPublic(url, optionsFor(port))).bytes).toEqual(packed);
  });
});

describe('where a name leads', () => {
  test('an address that changes after it was judged is never asked for again', async () => {
    const { port } = await hostThat((_, response) => response.end('x'));
    const answers = [here, { address: '127.0.0.2', family: 4 }];
    const lookup = async () => answers.splice(0, 1);
    expect((await fetchPublic(url, optionsFor(port, { lookup }))).bytes.toString()).toBe('x');
    expect(answers).toHaveLength(1);
  });

  const { isAllowedAddress: _, ...judgedAsInProduction } = optionsFor(0).ports ?? {};
  test.each([
    ['public A with loopback AAAA', ['93.184.215.14', '::1']],
    ['loopback A with public AAAA', ['127.0.0.1', '2606:4700::1111']],
  ])('%s is refused', async (_, addresses) => {
    const lookup = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    const options = { ...optionsFor(0), ports: { ...judgedAsInProduction, lookup } };
    const refusal = await refusalOf(fetchPublic(url, options));
    expect([refusal.status, refusal.message]).toEqual([400, 'header_source must name a public host']);
  });

  test.each([
    ['unknown', () => Promise.reject(new Error('ENOTFOUND'))],
    ['without address', async () => []],
  ])('a name that is %s is refused', async (_, lookup) => {
    const refusal = await refusalOf(fetchPublic(url, optionsFor(0, { lookup })));
    expect(refusal.message).toBe('header_source must name a host that can be found');
  });
});

test.each([
  ['a mistake', new TypeError('broken')],
  ['a code like one of ours', Object.assign(new Error('broken'), { code: 'no_answer' })],
])('an error of our own is no fault of the URL: %s', async (_, error) => {
  const isAllowedAddress = () => {
    throw error;
  };
  await expect(fetchPublic(url, optionsFor(0, { isAllowedAddress }))).rejects.toBe(error);
});

// Which URLs are public is in public-url.test.ts, how they are connected to in webhooks/delivery/post-network.test.ts.
test.each([
  ['http://example.com/a.png', 'must use https'],
  ['https://10.0.0.1/a.png', 'must name a public host'],
  ['https://example.com:8443/hook', 'must use port 443'],
])('%s is refused before it is looked up, and the path says where: %s (R40)', async (text, fault) => {
  const lookup = () => Promise.reject(new TypeError('looked up'));
  const refusal = await refusalOf(fetchPublic(text, optionsFor(0, { lookup, path: 'components[0].header_source' })));
  expect([refusal.status, refusal.message]).toEqual([400, `components[0].header_source ${fault}`]);
});

describe('what a host answers', () => {
  test.each([301, 302, 303, 307, 308, 204, 206, 404, 500])(
    '%s is refused, and its body stays unread',
    async (status) => {
      const answered = await faultOf((_, response) => {
        response.writeHead(status, { location: 'http://169.254.169.254/' }).end(status === 204 ? undefined : 'canary');
      });
      expect(answered).toBe(`header_source must be answered with status 200 and no redirect, not with ${status}`);
    },
  );

  test('a redirect is not followed', async () => {
    const { port, requests } = await hostThat((_, response) => response.writeHead(302, { location: url }).end());
    await refusalOf(fetchPublic(url, optionsFor(port)));
    expect(requests).toHaveLength(1);
  });

  test('packed bytes are refused before they are read', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000));
    expect(
      await faultOf((_, response) => response.setHeader('content-encoding', 'gzip').end(bomb), { maxBytes: 50_000 }),
    ).toBe('header_source must be answered without content-encoding');
  });

  const tooLarge = 'header_source must be a file of at most 1000 bytes';
  test('one byte too many, announced', async () => {
    expect(await faultOf((_, response) => response.end(Buffer.alloc(1_001)))).toBe(tooLarge);
  });

  test('announced only: nothing of it is waited for', async () => {
    expect(await faultOf((_, response) => response.writeHead(200, { 'content-length': '1001' }).flushHeaders())).toBe(
      tooLarge,
    );
  });

  test('the body of a refused answer is left at once, not at the deadline', async () => {
    const left = Promise.withResolvers<string>();
    await faultOf(
      (_, response) => {
        response.writeHead(404).write('.');
        response.on('close', () => left.resolve('closed'));
      },
      { totalMs: 3_600_000 },
    );
    expect(await left.promise).toBe('closed');
  });

  test('an endless body is left at the limit', async () => {
    let written = 0;
    const left = Promise.withResolvers<number>();
    const fault = await faultOf((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000))) written += 10_000;
      };
      response.on('drain', more).on('close', () => left.resolve(written));
      more();
    });
    expect(fault).toBe(tooLarge);
    expect(await left.promise).toBeLessThan(10_000_000);
  });

  test('a body that is reset halfway', async () => {
    expect(
      await faultOf((request, response) => {
        response.write('half', () => request.socket.destroy());
      }),
    ).toBe('header_source could not be read to its end');
  });

  test('a body shorter than announced', async () => {
    expect(
      await faultOf((request, response) => {
        response.writeHead(200, { 'content-length': '9' }).write('half', () => request.socket.end());
      }),
    ).toBe('header_source could not be read to its end');
  });

  test('a reset instead of an answer', async () => {
    expect(await faultOf((request) => request.socket.destroy())).toBe('header_source could not be fetched');
  });
});

describe('time', () => {
  const late = 'header_source must be answered within 0.2 s';

  test('a body that drips is left at the deadline', async () => {
    const dripping = await faultOf(
      (_, response) => {
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      },
      { totalMs: 200 },
    );
    expect(dripping).toBe(late);
  });

  test('an answer that never comes', async () => {
    expect(await faultOf(() => undefined, { totalMs: 200 })).toBe(late);
  });

  test('a look-up that never ends', async () => {
    const lookup = () => new Promise<never>(() => undefined);
    const refusal = await refusalOf(fetchPublic(url, optionsFor(0, { lookup, totalMs: 200 })));
    expect(refusal.message).toBe(late);
  });

  test('a connection that says nothing is left after the time for connecting', async () => {
    const silent = createServer();
    open.push(silent);
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    const refusal = await refusalOf(fetchPublic(url, optionsFor(port, { connectMs: 50 })));
    expect(refusal.message).toBe('header_source must be on a host that accepts a connection within 50 ms');
  });
});
