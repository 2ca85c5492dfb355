import { expect, test } from 'vitest';
import { bareHost, isPublicAddress, publicHttpsUrlFault } from '../../../lib/http/public-url.ts';
import cases from './public-url-cases.json' with { type: 'json' };

test.each(cases as [string, string, string][])('%s: %s %s', (url, verdict) => {
  expect(publicHttpsUrlFault(url) === undefined ? 'accept' : 'reject').toBe(verdict);
});

const longest = `https://example.com/${'a'.repeat(2_048 - 'https://example.com/'.length)}`;

test.each([
  ['https://example.com/a b.png', 'must not contain spaces, control characters or backslashes'],
  ['http://example.com/a.png', 'must use https'],
  ['https://user@example.com/', 'must not carry credentials'],
  ['https://localhost/', 'must name a public host'],
  ['https://192.168.1.10/a.png', 'must name a public host'],
  ['not a url', 'must not contain spaces, control characters or backslashes'],
  ['https://[2606:4700::1111]/', undefined],
  ['example.com', 'must be an absolute URL'],
  [longest, undefined],
  [`${longest}a`, 'must have at most 2048 characters'],
])('%s says %s', (url, fault) => {
  expect(publicHttpsUrlFault(url)).toBe(fault);
});

test.each([
  ['https://example.com/', 'example.com'],
  ['https://EXAMPLE.com.:8443/', 'example.com'],
  ['https://93.184.215.14./', '93.184.215.14'],
  ['https://[2606:4700::1111]/', '2606:4700::1111'],
])('the host of %s is %s for DNS and TLS', (url, host) => {
  expect(bareHost(new URL(url))).toBe(host);
});

/** Returns the last groups of an IPv6 address with every bit set. */
const f = (groups: number) => Array(groups).fill('ffff').join(':');

test.each<readonly [string, string, readonly string[]]>([
  ['0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0', '255.255.255.255', ['223.255.255.255']],
  ['::', `1fff:${f(7)}`, ['2000::']],
  ['2001::', `2001:1ff:${f(6)}`, [`2000:${f(7)}`, '2001:200::']],
  ['2001:db8::', `2001:db8:${f(6)}`, [`2001:db7:${f(6)}`, '2001:db9::']],
  ['2002::', `2002:${f(7)}`, [`2001:${f(7)}`, '2003::']],
  ['3fff::', `3fff:fff:${f(6)}`, [`3ffe:${f(7)}`, '3fff:1000::']],
  ['4000::', f(8), [`3fff:${f(7)}`]],
])('no address from %s to %s is public, and its neighbours %j are (R40)', (first, last, neighbours) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  expect(neighbours.filter(isPublicAddress)).toEqual(neighbours);
});

test.each(['2606:4700::1111%eth0', '::ffff:93.184.215.14', '[2606:4700::1111]', '93.184.215.14/32', 'example.com', ''])(
  '%j is no address of the public network (R40)',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);
