import { BlockList, isIP } from 'node:net';

const maxUrlLength = 2_048;
const privateSuffixes = ['.local', '.internal', '.localhost', '.lan', '.home.arpa'];

const specialAddresses = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  specialAddresses.addSubnet(network, bits, 'ipv4');
}
specialAddresses.addSubnet('2001::', 23, 'ipv6');
specialAddresses.addSubnet('2001:db8::', 32, 'ipv6');
specialAddresses.addSubnet('2002::', 16, 'ipv6');
specialAddresses.addSubnet('3fff::', 20, 'ipv6');

const globalUnicast = new BlockList();
globalUnicast.addSubnet('2000::', 3, 'ipv6');

/**
 * Returns the fault of a URL that must be https and name a public host (contract, component.header, and media of
 * templates). The connecting code checks the resolved address.
 */
export function publicHttpsUrlFault(text: string): string | undefined {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`;
  // The URL parser repairs these silently, so that its host is not the host that a reader sees.
  if (/[\\\s\p{Cc}]/u.test(text)) return 'must not contain spaces, control characters or backslashes';
  const url = URL.parse(text);
  if (url === null) return 'must be an absolute URL';
  if (url.protocol !== 'https:') return 'must use https';
  if (url.username !== '' || url.password !== '') return 'must not carry credentials';
  if (!isPublicHost(bareHost(url))) return 'must name a public host';
  return undefined;
}

/** Returns the host of a URL as DNS and TLS know it: an address without brackets, a name without the root's dot. */
export function bareHost(url: URL): string {
  return url.hostname.replace(/[[\]]/g, '').replace(/\.$/, '');
}

/**
 * Tells whether an address is public (R40): no special range, and IPv6 only inside 2000::/3 and without a zone. Returns
 * false for other text.
 */
export function isPublicAddress(address: string): boolean {
  if (address.includes('%')) return false;
  if (isIP(address) === 4) return !specialAddresses.check(address, 'ipv4');
  // Text that is no address matches no list.
  return globalUnicast.check(address, 'ipv6') && !specialAddresses.check(address, 'ipv6');
}

function isPublicHost(host: string): boolean {
  if (isIP(host) !== 0) return isPublicAddress(host);
  const labels = host.split('.');
  return (
    labels.length > 1 &&
    labels.every((label) => label.length > 0 && label.length <= 63) &&
    !privateSuffixes.some((suffix) => host.endsWith(suffix))
  );
}
