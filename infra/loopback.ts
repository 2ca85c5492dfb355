import type { Server as HttpServer, IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Names that browsers and systems lead to this machine and to no other, whatever a DNS server says. */
const loopbackName = /^(?:127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]{1,63}\.)*localhost)$/i;

/** Whether a host, an IPv6 address in brackets, always leads here. */
export function isLoopbackName(host: string): boolean {
  return loopbackName.test(host);
}

/** Whether the request was meant for this machine by a name that always leads here. A program may leave the name out. */
export function hasLoopbackHost({ host }: Pick<IncomingHttpHeaders, 'host'>): boolean {
  return host === undefined || isLoopbackName(host.replace(/:\d{1,5}$/, ''));
}

/** Whether the origin, as browsers spell them, is of a page that was loaded from this machine; any port, http and https. */
export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.origin === origin && /^https?:$/.test(url.protocol) && isLoopbackName(url.hostname);
}

/** Opens a server for this machine alone, on any free port when the port is 0. Returns its port; rejects when it is taken. */
export async function openOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** Closes the port and every connection. */
export function closeAtOnce(server: Pick<HttpServer, 'close' | 'closeAllConnections'>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
