import { expect, test } from 'vitest';
import { localNetwork, localReceiver } from '../../../../lib/webhooks/delivery/local-receiver.ts';

const receiver = { host: 'webhooks.example.com', port: 4430, ca: 'certificate' };

test('without the variable there is no receiver, and nothing differs for any host', () => {
  expect(localReceiver(undefined)).toBeUndefined();
  expect(localNetwork(undefined, receiver.host)).toEqual({});
});

test('the variable is read as it is written', () => {
  expect(localReceiver(JSON.stringify(receiver))).toEqual(receiver);
});

test.each([
  ['', 'empty'],
  ['127.0.0.1:4430', 'not JSON'],
  [JSON.stringify({ ...receiver, host: '127.0.0.1' }), 'an IPv4 address'],
  [JSON.stringify({ ...receiver, host: '::1' }), 'an IPv6 address'],
  [JSON.stringify({ ...receiver, host: '' }), 'no host'],
  [JSON.stringify({ ...receiver, port: 0 }), 'no port'],
  [JSON.stringify({ ...receiver, ca: undefined }), 'no certificate'],
])('a variable of another form fails at start-up: %s (%s)', (variable) => {
  expect(() => localReceiver(variable)).toThrow();
});

test('its name stands for this machine, and nothing but this machine is let through', async () => {
  const network = localNetwork(receiver, receiver.host);
  expect(await network.lookup?.()).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect([network.port, network.ca]).toEqual([4430, 'certificate']);
  const letThrough = ['127.0.0.1', '127.0.0.2', '10.0.0.1', '169.254.169.254', '::1', '8.8.8.8'].filter((address) =>
    network.isAllowedAddress?.(address),
  );
  expect(letThrough).toEqual(['127.0.0.1']);
});

test.each(['example.com', 'webhooks.example.com.evil.example', 'a.webhooks.example.com', 'localhost', '127.0.0.1'])(
  'for %s nothing differs',
  (host) => {
    expect(localNetwork(receiver, host)).toEqual({});
  },
);
