import { type IncomingHttpHeaders, request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { foreignOriginReason } from '../src/own-origin.ts';
import { simulatorOfFile } from './support/simulator.ts';

const simulator = simulatorOfFile({ afresh: true });

/** Sends exactly these headers, because `fetch` does not allow all of them. */
function statusOf(method: string, path: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${simulator.url}${path}`, { method, headers }, (reply) => {
      reply.resume();
      resolve(reply.statusCode ?? 0);
    });
    sent.once('error', reject).end(method === 'POST' ? '{"action":{"code":1}}' : undefined);
  });
}

const own = () => ({ origin: simulator.url, 'sec-fetch-site': 'same-origin' });
const faults = async () => (await simulator.control('GET', 'overview')).body.faults.length;

describe('who may drive the simulator', () => {
  test('a program, and its own page', async () => {
    expect(await statusOf('POST', '/_control/faults', {})).toBe(200);
    expect(await statusOf('POST', '/_control/faults', own())).toBe(200);
    expect(await faults()).toBe(2);
  });

  test('by every name of this machine', async () => {
    const { port } = new URL(simulator.url);
    for (const host of [`localhost:${port}`, `[::1]:${port}`, '127.0.0.1']) {
      expect(await statusOf('GET', '/_control/overview', { host, origin: `http://${host}` }), host).toBe(200);
    }
  });

  test.each<[string, Record<string, string>]>([
    ['a page of another origin', { origin: 'https://evil.example' }],
    ['a page of another site that sends no origin', { 'sec-fetch-site': 'cross-site' }],
    ['a name that leads here', { host: 'evil.example:3001', origin: 'http://evil.example:3001' }],
    [
      'a socket of another origin',
      { origin: 'https://evil.example', connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
    ],
  ])('never %s', async (_, headers) => {
    for (const [method, path] of [
      ['POST', '/_control/faults'],
      ['POST', '/_control/reset'],
      ['GET', '/_control/messages'],
      ['GET', '/_control/live'],
      ['POST', '/v25.0/300000000000001/messages'],
      ['GET', '/console/app.js'],
    ] as const) {
      expect(await statusOf(method, path, headers), `${method} ${path}`).toBe(403);
    }
    expect(await faults()).toBe(0);
  });

  test('a link on any page may lead to the console, and nowhere else', async () => {
    const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(await statusOf('GET', '/', link)).toBe(200);
    expect(await statusOf('GET', '/', { ...link, host: 'evil.example' })).toBe(403);
    expect(await statusOf('GET', '/_control/messages', link)).toBe(403);
    expect(await statusOf('POST', '/', { ...link, origin: 'https://evil.example' })).toBe(403);
  });
});

const byHost = 'the Host header is no loopback name';
const byOrigin = 'the request comes from a page of another origin';
const bySite = 'the request comes from a page of another site';
const host = 'localhost:3001';

test.each<[string, IncomingHttpHeaders, string | undefined]>([
  ['a program of HTTP/1.0, which says no host', {}, undefined],
  ['a person who types the address', { host, 'sec-fetch-site': 'none' }, undefined],
  ['a page of its own, in other letters', { host: 'LocalHost:3001', origin: 'HTTP://localhost:3001' }, undefined],
  ['a name that ends like ours', { host: 'evil-localhost:3001' }, byHost],
  ['a name that ends like an address of ours', { host: 'evil.127.0.0.1' }, byHost],
  ['a name that says nothing', { host: '' }, byHost],
  ['a page of another port', { host, origin: 'http://localhost:3000' }, byOrigin],
  ['its own page over another scheme', { host, origin: `https://${host}` }, byOrigin],
  ['a page of the same site that sends no origin', { host, 'sec-fetch-site': 'same-site' }, bySite],
  ['a page without an origin', { host, origin: 'null' }, byOrigin],
  ['a name that begins like ours', { host: 'localhost.evil.example' }, byHost],
  ['a site that no browser has', { host, 'sec-fetch-site': '' }, bySite],
])('%s may, or is told why not', (_, headers, why) => {
  expect(foreignOriginReason(headers)).toBe(why);
});

describe('what the console is served with', () => {
  test.each(['/', '/console/app.js', '/console/style.css', '/console/icon.svg'])('%s', async (path) => {
    const { status, headers } = await simulator.call('GET', path);
    expect(status).toBe(200);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test.each(['/', '/console/app.js', '/_control/overview', '/console/nothing'])(
    'HEAD of %s: as GET, without a body',
    async (path) => {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => fetch(`${simulator.url}${path}`, { method })),
      );
      if (head === undefined || get === undefined) throw new Error('there are two');
      expect([head.status, await head.text()]).toEqual([get.status, '']);
      for (const name of ['content-type', 'content-length', 'content-security-policy', 'cache-control']) {
        expect(head.headers.get(name), name).toBe(get.headers.get(name));
      }
    },
  );

  test('other paths are 404; the platform neither counts them nor applies faults to them', async () => {
    await simulator.control('POST', 'faults', { action: { code: 1 }, times: 1 });
    for (const path of ['/console/nothing', '/console/media/1', '/favicon.ico']) {
      expect((await simulator.call('GET', path)).status, path).toBe(404);
    }
    const link = await fetch(`${simulator.url}/console`, { redirect: 'manual' });
    expect([link.status, link.headers.get('location')]).toEqual([302, '/']);
    const { body } = await simulator.control('GET', 'overview');
    expect([body.counts.requests, body.faults.length]).toEqual([0, 1]);
  });

  test('the page has no script, style or handler of its own, and the whole is below 150 KB', async () => {
    const parts = await Promise.all(
      ['/', '/console/app.js', '/console/style.css'].map((path) => simulator.call('GET', path)),
    );
    expect(String(parts[0]?.body)).not.toMatch(/<style|<script(?! type="module" src=)|style=|\son\w+=/);
    expect(Buffer.byteLength(parts.map(({ body }) => body).join(''))).toBeLessThan(150_000);
  });

  test('media are shown as what they were uploaded as, if a browser may show that', async () => {
    const upload = async (type: string) => {
      const form = new FormData();
      form.set('messaging_product', 'whatsapp');
      form.set('type', type);
      form.set('file', new Blob(['<script>'], { type }), 'file');
      const headers = { authorization: 'Bearer demo-platform-token' };
      const url = `${simulator.url}/v25.0/300000000000001/media`;
      return (await (await fetch(url, { method: 'POST', headers, body: form })).json()) as { id: string };
    };
    const image = await simulator.call('GET', `/console/media/${(await upload('image/png')).id}`);
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(image.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await simulator.call('GET', `/console/media/${(await upload('application/pdf')).id}`)).status).toBe(404);
    expect((await simulator.call('GET', '/console/media/1')).status).toBe(404);
  });
});
