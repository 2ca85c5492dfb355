import type { Server as HttpServer, IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** Browsers and systems resolve these names to this machine, whatever a DNS server says. */
const loopbackName = /^(?:127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]{1,63}\.)*localhost)$/i;

/** Whether a host always leads to this machine. An IPv6 address is in brackets. */
export function isLoopbackName(host: string): boolean {
  return loopbackName.test(host);
}

/** Whether the request's Host header names this machine. Programs may leave the header out. */
export function hasLoopbackHost({ host }: Pick<IncomingHttpHeaders, 'host'>): boolean {
  return host === undefined || isLoopbackName(host.replace(/:\d{1,5}$/, ''));
}

/** Whether an origin, as browsers spell it, is of a page from this machine: any port, http or https. */
export function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin);
  return url?.origin === origin && /^https?:$/.test(url.protocol) && isLoopbackName(url.hostname);
}

/** Opens a server on 127.0.0.1 only; port 0 means any free port. Returns the port; rejects when it is in use. */
export async function openOnLoopback(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return (server.address() as AddressInfo).port;
}

export function closeAtOnce(server: Pick<HttpServer, 'close' | 'closeAllConnections'>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
