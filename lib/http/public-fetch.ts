import { promises as dns } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { bareHost, isPublicAddress, publicHttpsUrlFault } from './public-url.ts';
import { invalid } from './refusal.ts';

export interface FetchedFile {
  readonly bytes: Buffer;
  /** Media type as declared by the server, lower case without parameters; absent when it does not tell. */
  readonly contentType?: string;
}

export interface PublicFetchOptions {
  /** Where the request names the URL; every refusal begins with it. */
  readonly path: string;
  readonly maxBytes: number;
  /** For everything from the look-up of the name to the last byte. */
  readonly totalMs: number;
  /** What differs in a test. */
  readonly ports?: Partial<PublicFetchPorts>;
}

export interface PublicFetchPorts {
  readonly lookup: (hostname: string) => Promise<readonly { readonly address: string; readonly family: number }[]>;
  readonly isAllowedAddress: (address: string) => boolean;
  readonly port: number;
  /** For the connection including TLS. */
  readonly connectMs: number;
  /** Certificates to trust instead of the usual ones. */
  readonly ca?: string;
}

const publicNetwork: PublicFetchPorts = {
  lookup: (hostname) => dns.lookup(hostname, { all: true }),
  isAllowedAddress: isPublicAddress,
  port: 443,
  connectMs: 3_000,
};

const notPublic = 'must name a public host';

/** What is wrong with the URL or with what stands there; the sentence continues the name of the field. */
class FetchFault extends Error {}

/**
 * Fetches a file from a URL that a client gave, so that the client learns and reaches nothing inside (reliability
 * reference, 7; R40): https on port 443, every address of the name public, connected to the very address that was judged,
 * answered with 200 at once and uncompressed. Refuses with 400 in words of our own whatever is not so, is larger than
 * `maxBytes` or takes longer than `totalMs`.
 */
export async function fetchPublic(text: string, options: PublicFetchOptions): Promise<FetchedFile> {
  const ports = { ...publicNetwork, ...options.ports };
  const deadline = AbortSignal.timeout(options.totalMs);
  try {
    const url = publicUrl(text);
    const address = await before(deadline, publicAddressOf(bareHost(url), ports));
    const reply = await connect({ url, address, ports, deadline });
    try {
      return await readFile(reply, options.maxBytes);
    } finally {
      reply.destroy();
    }
  } catch (error) {
    if (!(error instanceof FetchFault)) throw error;
    const fault = deadline.aborted ? `must be answered within ${options.totalMs / 1_000} s` : error.message;
    throw invalid(options.path, `${options.path} ${fault}`);
  }
}

function publicUrl(text: string): URL {
  const fault = publicHttpsUrlFault(text);
  if (fault !== undefined) throw new FetchFault(fault);
  const url = new URL(text);
  if (url.port !== '') throw new FetchFault('must use port 443');
  return url;
}

/** One address to connect to, IPv4 before IPv6, which not every network has. One that is not public spoils them all. */
async function publicAddressOf(host: string, ports: PublicFetchPorts): Promise<string> {
  const family = isIP(host);
  const found = family === 0 ? await ports.lookup(host).catch(() => []) : [{ address: host, family }];
  if (!found.every(({ address }) => ports.isAllowedAddress(address))) throw new FetchFault(notPublic);
  const chosen = found.find((answer) => answer.family === 4) ?? found[0];
  if (chosen === undefined) throw new FetchFault('must name a host that can be found');
  return chosen.address;
}

interface Connection {
  readonly url: URL;
  readonly address: string;
  readonly ports: PublicFetchPorts;
  readonly deadline: AbortSignal;
}

function connect({ url, address, ports, deadline }: Connection): Promise<IncomingMessage> {
  const host = bareHost(url);
  return new Promise((resolve, reject) => {
    const outgoing = get(
      {
        host: address,
        port: ports.port,
        path: `${url.pathname}${url.search}`,
        // The certificate must be the name's; an address has no name to announce.
        servername: isIP(host) === 0 ? host : '',
        headers: { host: url.host, accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'template-messaging' },
        agent: false,
        signal: deadline,
        ...(ports.ca === undefined ? {} : { ca: ports.ca }),
      },
      resolve,
    );
    outgoing.on('socket', (socket: Socket) => {
      const late = setTimeout(() => {
        outgoing.destroy(new FetchFault(`must be on a host that accepts a connection within ${ports.connectMs} ms`));
      }, ports.connectMs);
      socket.once('connect', () => {
        if (!ports.isAllowedAddress(socket.remoteAddress ?? '')) outgoing.destroy(new FetchFault(notPublic));
      });
      socket.once('secureConnect', () => clearTimeout(late));
      socket.once('close', () => clearTimeout(late));
    });
    outgoing.on('error', (error) => {
      reject(error instanceof FetchFault ? error : new FetchFault('could not be fetched'));
    });
    // An upgrade closes the connection without an answer and without an error.
    outgoing.on('close', () => reject(new FetchFault('could not be fetched')));
  });
}

async function readFile(reply: IncomingMessage, maxBytes: number): Promise<FetchedFile> {
  if (reply.statusCode !== 200) {
    throw new FetchFault(`must be answered with status 200 and no redirect, not with ${reply.statusCode}`);
  }
  if ((reply.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new FetchFault('must be answered without content-encoding');
  }
  const tooLarge = new FetchFault(`must be a file of at most ${maxBytes} bytes`);
  if (Number(reply.headers['content-length']) > maxBytes) throw tooLarge;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of reply as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge;
      chunks.push(chunk);
    }
  } catch (error) {
    throw error === tooLarge ? error : new FetchFault('could not be read to its end');
  }
  const contentType = reply.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  return { bytes: Buffer.concat(chunks), ...(contentType ? { contentType } : {}) };
}

/** Waits no longer than the deadline for work that cannot be stopped. */
function before<T>(deadline: AbortSignal, work: Promise<T>): Promise<T> {
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener('abort', () => reject(new FetchFault('late')), { once: true });
  });
  return Promise.race([work, late]);
}
