import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sourceNetwork } from '../../../../lib/access/sign-in/source-address.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['::FFFF:203.0.113.7', '203.0.113.7'],
  ['2001:db8::ffff:203.0.113.7', '2001:db8:0:0::/64'],
  ['1::ffff:1.2.3.4', '1:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
  ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ['', 'no address'],
  ['unknown', 'no address'],
  ['1:2:3', 'no address'],
  ['::1]@example.com', 'no address'],
  ['::1]/[::1', 'no address'],
  ['x203.0.113.7', 'no address'],
  ['203.0.113.7.9', 'no address'],
  ['::ffff:203.0.113.7.9', 'no address'],
])('%s is of the network %s', (address, network) => {
  expect(sourceNetwork(address)).toBe(network);
});

test('two IPv6 addresses are of one network exactly when their first 64 bits are the same', () => {
  const group = fc.oneof(
    fc.constant('0'),
    fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16)),
  );
  const half = fc.tuple(group, group, group, group);
  fc.assert(
    fc.property(half, half, half, half, (prefix, other, host, otherHost) => {
      const at = (first: readonly string[], last: readonly string[]) => sourceNetwork([...first, ...last].join(':'));
      fc.pre(prefix.slice(0, 4).some((part) => part !== '0') || host[0] !== '0');
      expect(at(prefix, host)).toBe(at(prefix, otherHost));
      expect(at(prefix, host) === at(other, host)).toBe(prefix.join() === other.join());
      const short = new URL(`http://[${[...prefix, ...host].join(':')}]`).hostname.slice(1, -1);
      expect(sourceNetwork(short)).toBe(at(prefix, host));
    }),
  );
});
