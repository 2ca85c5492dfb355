import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test, vi } from 'vitest';
import { type PublicNetwork, publicNetwork, requestPublic } from '../../../lib/http/request-network.ts';
import { certificate, type MediaHost, startMediaHost } from '../../support/media-host.ts';

const open: MediaHost[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const host of open.splice(0)) await host.close();
});

async function hostThat(answers: RequestListener): Promise<MediaHost> {
  const host = await startMediaHost(answers);
  open.push(host);
  return host;
}

const network: PublicNetwork = {
  lookup: async () => [{ address: '127.0.0.1', family: 4 }],
  isAllowedAddress: (address) => address === '127.0.0.1',
  connectMs: 3_000,
  ca: certificate,
};

const ask = (url: string, way: PublicNetwork = network) =>
  requestPublic({ url: new URL(url), method: 'GET', headers: {}, network: way, deadline: AbortSignal.timeout(60_000) });

test('a name is asked for all of its addresses', async () => {
  expect(await publicNetwork.lookup('127.0.0.1')).toEqual([{ address: '127.0.0.1', family: 4 }]);
});

test('the port is the one of the URL; the name is announced', async () => {
  const host = await hostThat((_, response) => response.end('x'));
  const reply = await ask(`https://media.example.com:${host.port}/`);
  expect(await text(reply)).toBe('x');
  expect(host.requests.map(({ headers }) => headers.host)).toEqual([`media.example.com:${host.port}`]);
  expect(host.serverNames).toEqual(['media.example.com']);
});

test('an address is connected to without a look-up, announces no name, and needs a certificate of its own', async () => {
  const host = await hostThat((_, response) => response.end('x'));
  const connected = vi.fn(network.isAllowedAddress);
  const lookup = vi.fn(network.lookup);
  await expect(
    ask(`https://127.0.0.1:${host.port}/`, { ...network, lookup, isAllowedAddress: connected }),
  ).rejects.toMatchObject({ name: 'ConnectFault', code: 'no_answer' });
  expect(lookup).not.toHaveBeenCalled();
  expect(connected.mock.calls).toEqual([['127.0.0.1'], ['127.0.0.1']]);
  expect([host.serverNames, host.requests]).toEqual([[], []]);
});

test('the time for connecting ends with the connection: a slow answer is no slow connection', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const host = await hostThat((_, response) => {
    vi.advanceTimersByTime(network.connectMs);
    response.end('x');
  });
  expect(await text(await ask(`https://media.example.com:${host.port}/`))).toBe('x');
});

test('nothing waits for a connection that has failed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { port, close } = await startMediaHost(() => undefined);
  await close();
  await expect(ask(`https://media.example.com:${port}/`)).rejects.toMatchObject({ code: 'no_answer' });
  await vi.waitFor(() => expect(vi.getTimerCount()).toBe(0));
});
