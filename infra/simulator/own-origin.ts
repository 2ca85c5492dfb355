import type { IncomingHttpHeaders } from 'node:http';
import { hasLoopbackHost } from '../loopback.ts';

/**
 * Why a request may not do anything here; undefined when it may. A page of another origin would otherwise drive the
 * simulator by the browser of whoever visits it: by its own address, or by a name of its own that leads to this machine
 * (DNS rebinding). Programs send none of these headers and are not concerned; neither is who types the address.
 */
export function foreignBecause(headers: IncomingHttpHeaders): string | undefined {
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
