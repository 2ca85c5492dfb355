const mappedPrefix = '::ffff:';

/**
 * Returns the network that logins are throttled by: an IPv4 address, or the first 64 bits of an IPv6 address, which one
 * subscriber owns. Other text is one network.
 */
export function sourceNetwork(sourceIp: string): string {
  const text = sourceIp.replace(/%.*/s, '').toLowerCase();
  const mapped = text.startsWith(mappedPrefix) ? text.slice(mappedPrefix.length) : text;
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(mapped)) return mapped;
  const groups = ipv6Groups(text);
  return groups === undefined ? 'no address' : `${groups.slice(0, 4).join(':')}::/64`;
}

/** Returns the eight groups of an IPv6 address, without leading zeros. The URL parser knows all spellings. */
function ipv6Groups(text: string): string[] | undefined {
  if (!/^[0-9a-f:.]+$/.test(text) || !URL.canParse(`http://[${text}]`)) return undefined;
  const short = new URL(`http://[${text}]`).hostname.slice(1, -1);
  const groupsOf = (spelling: string) => spelling.split(':').filter((group) => group !== '');
  const zeros = '0:'.repeat(8 - groupsOf(short).length);
  return groupsOf(short.replace('::', `:${zeros}`));
}
