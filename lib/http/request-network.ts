import { promises as dns } from 'node:dns';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { bareHost, isPublicAddress } from './public-url.ts';

export interface PublicNetwork {
  readonly lookup: (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
  readonly isAllowedAddress: (address: string) => boolean;
  readonly connectMs: number;
  readonly port?: number;
  /** These certificates are trusted instead of the usual ones. */
  readonly ca?: string;
}

export const publicNetwork: PublicNetwork = {
  lookup: (hostname) => dns.lookup(hostname, { all: true }),
  isAllowedAddress: isPublicAddress,
  connectMs: 3_000,
};

export interface PublicRequest {
  readonly url: URL;
  readonly method: 'GET' | 'POST';
  readonly headers: OutgoingHttpHeaders;
  readonly body?: string;
  readonly network: PublicNetwork;
  /** The time runs from the DNS lookup to the end of the answer. */
  readonly deadline: AbortSignal;
}

export type ConnectFaultCode = 'not_public' | 'not_found' | 'slow_connection' | 'no_answer';

/** The code says why there is no answer. After the deadline the code has no meaning. */
export class ConnectFault extends Error {
  readonly code: ConnectFaultCode;

  constructor(code: ConnectFaultCode) {
    super(code);
    this.name = 'ConnectFault';
    this.code = code;
  }
}

/**
 * Calls a client's URL without reaching the inside (R40): https, all resolved addresses public, checked again on
 * connection, no redirects. The caller checks the URL and destroys the reply. Throws `ConnectFault`.
 */
export async function requestPublic(asked: PublicRequest): Promise<IncomingMessage> {
  const address = await before(asked.deadline, publicAddressOf(bareHost(asked.url), asked.network));
  return await connect(address, asked);
}

/** Takes IPv4 first, because some networks lack IPv6. One address that is not public refuses all. */
async function publicAddressOf(host: string, network: PublicNetwork): Promise<string> {
  const family = isIP(host);
  const found = family === 0 ? await network.lookup(host).catch(() => []) : [{ address: host, family }];
  if (!found.every(({ address }) => network.isAllowedAddress(address))) throw new ConnectFault('not_public');
  const chosen = found.find((answer) => answer.family === 4) ?? found[0];
  if (chosen === undefined) throw new ConnectFault('not_found');
  return chosen.address;
}

function connect(address: string, asked: PublicRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, network, deadline } = asked;
  const host = bareHost(url);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: address,
        port: network.port ?? url.port,
        method,
        path: `${url.pathname}${url.search}`,
        // The certificate must match the name. An address has no SNI.
        servername: isIP(host) === 0 ? host : '',
        headers: { host: url.host, 'user-agent': 'template-messaging', ...headers },
        agent: false,
        signal: deadline,
        ca: network.ca,
      },
      resolve,
    );
    outgoing.on('socket', (socket: Socket) => {
      const late = setTimeout(() => outgoing.destroy(new ConnectFault('slow_connection')), network.connectMs);
      socket.once('connect', () => {
        if (!network.isAllowedAddress(socket.remoteAddress ?? '')) outgoing.destroy(new ConnectFault('not_public'));
      });
      socket.once('secureConnect', () => clearTimeout(late));
      socket.once('close', () => clearTimeout(late));
    });
    outgoing.on('error', (error) => reject(error instanceof ConnectFault ? error : new ConnectFault('no_answer')));
    // An upgrade closes the connection without an answer and without an error.
    outgoing.on('close', () => reject(new ConnectFault('no_answer')));
    outgoing.end(body);
  });
}

/** Stops waiting at the deadline; the work itself cannot be stopped. */
function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(new ConnectFault('no_answer')));
  });
  return Promise.race([work, late]);
}
