import type { IncomingHttpHeaders } from 'node:http';
import { hasLoopbackHost } from './loopback.ts';

/**
 * Returns why a request is refused, or undefined. Blocks cross-origin pages and DNS rebinding, because a foreign page
 * could drive the simulator through a browser. Programs and typed addresses send no such headers.
 */
export function foreignOriginReason(headers: IncomingHttpHeaders): string | undefined {
  const { host, origin } = headers;
  if (!hasLoopbackHost(headers)) return 'the Host header is no loopback name';
  if (origin !== undefined && origin.toLowerCase() !== `http://${host}`.toLowerCase()) {
    return 'the request comes from a page of another origin';
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') {
    return 'the request comes from a page of another site';
  }
  return undefined;
}
