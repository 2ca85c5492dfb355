import type { Server as HttpServer, IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Server } from 'node:net';

/** These names lead to this machine, whatever a DNS server says. */
const loopbackName = /^(?:127\.0\.0\.1|\[::1\]|(?:[a-z0-9-]{1,63}\.)*localhost)$/i;

/** An IPv6 address is in brackets. */
function isLoopbackName(host: string): boolean {
  return loopbackName.test(host);
}

/** Programs may leave the Host header out. */
export function hasLoopbackHost({ host }: Pick<IncomingHttpHeaders, 'host'>): boolean {
  return host === undefined || isLoopbackName(host.replace(/:\d{1,5}$/, ''));
}

/** Port 0 means any free port. Returns the port; rejects when it is in use. */
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
