import { promises as dns } from 'node:dns';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { afterEach, expect, test } from 'vitest';
import { leadToThisMachine, trustedReceiversOf } from '../../../infra/local/trusted-receiver.ts';
import { postPublic } from '../../../lib/webhooks/delivery/post-network.ts';
import { certificate } from '../../support/media-host.ts';
import { type Receiver, startReceiver } from '../../support/tls-receiver.ts';

const written = { host: 'webhooks.example.com', port: 4430, ca: 'certificate' };

test('the variable is read as it is written', () => {
  const both = [written, { ...written, ca: null }];
  expect(trustedReceiversOf(JSON.stringify(both))).toEqual(both);
});

test.each([
  ['', 'empty'],
  ['127.0.0.1:4430', 'not JSON'],
  [JSON.stringify(written), 'no list'],
  [JSON.stringify([{ ...written, host: '127.0.0.1' }]), 'an IPv4 address'],
  [JSON.stringify([{ ...written, host: '::1' }]), 'an IPv6 address'],
  [JSON.stringify([{ ...written, host: '' }]), 'no host'],
  [JSON.stringify([{ ...written, port: 0 }]), 'no port'],
  [JSON.stringify([{ ...written, ca: undefined }]), 'no certificate'],
])('a variable of another form fails at start-up: %s (%s)', (variable) => {
  expect(() => trustedReceiversOf(variable)).toThrow();
});

const { lookup } = dns;
const { request } = https;
const open: Receiver[] = [];
afterEach(async () => {
  Object.assign(dns, { lookup });
  Object.assign(https, { request });
  syncBuiltinESMExports();
  for (const receiver of open.splice(0)) await receiver.close();
});

/** The certificate's name resolves to the local receiver; all other names resolve as given here. */
async function led(addresses: Readonly<Record<string, string>> = {}) {
  const receiver = await startReceiver((response) => response.writeHead(204).end());
  open.push(receiver);
  Object.assign(dns, {
    lookup: async (name: string) => {
      const address = addresses[name];
      if (address === undefined) throw new Error('ENOTFOUND');
      return [{ address, family: 4 }];
    },
  });
  const { host } = new URL(receiver.url);
  leadToThisMachine({ host, port: receiver.network.port ?? 0, ca: certificate });
  return receiver;
}

const post = (url: string) => postPublic({ url, headers: {}, body: '{}', totalMs: 3_000 });

test('a delivery to its name, made as it is made when deployed, arrives on this machine', async () => {
  const receiver = await led();
  expect(await post(receiver.url)).toEqual({ status: 204 });
  expect(receiver.received).toHaveLength(1);
});

test.each(['other.example.com', 'media.example.com.evil.example', 'a.media.example.com'])(
  '%s that leads to this machine is refused as ever',
  async (name) => {
    const receiver = await led({ [name]: '127.0.0.1' });
    expect(await post(`https://${name}/hook`)).toEqual({ fault: 'not_public' });
    expect(receiver.received).toEqual([]);
  },
);

test.each(['https://127.0.0.1/hook', 'https://localhost/hook', 'https://169.254.169.254/hook'])(
  '%s is refused as ever',
  async (url) => {
    await led();
    expect(await post(url)).toEqual({ fault: 'not_public' });
  },
);
