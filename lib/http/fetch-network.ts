import type { IncomingMessage } from 'node:http';
import { publicHttpsUrlFault } from './public-url.ts';
import { invalid } from './refusal.ts';
import { ConnectFault, type PublicNetwork, publicNetwork, requestPublic } from './request-network.ts';

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
  readonly ports?: Partial<PublicNetwork>;
}

/** What is wrong with the URL or with what stands there; the sentence continues the name of the field. */
class FetchFault extends Error {}

/**
 * Fetches a file from a URL that a client gave, so that the client learns and reaches nothing inside (R40): https on
 * port 443, asked as `requestPublic` asks, answered with 200 at once and uncompressed. Refuses with 400 in words of our
 * own whatever is not so, is larger than `maxBytes` or takes longer than `totalMs`.
 */
export async function fetchPublic(text: string, options: PublicFetchOptions): Promise<FetchedFile> {
  const network = { ...publicNetwork, ...options.ports };
  const deadline = AbortSignal.timeout(options.totalMs);
  try {
    const headers = { accept: '*/*', 'accept-encoding': 'identity' };
    const reply = await requestPublic({ url: publicUrl(text), method: 'GET', headers, network, deadline });
    try {
      return await readFile(reply, options.maxBytes);
    } finally {
      reply.destroy();
    }
  } catch (error) {
    const fault = faultOf(error, network);
    if (fault === undefined) throw error;
    const sentence = deadline.aborted ? `must be answered within ${options.totalMs / 1_000} s` : fault;
    throw invalid(options.path, `${options.path} ${sentence}`);
  }
}

function faultOf(error: unknown, { connectMs }: PublicNetwork): string | undefined {
  if (error instanceof FetchFault) return error.message;
  if (!(error instanceof ConnectFault)) return undefined;
  return {
    not_public: 'must name a public host',
    not_found: 'must name a host that can be found',
    slow_connection: `must be on a host that accepts a connection within ${connectMs} ms`,
    no_answer: 'could not be fetched',
  }[error.code];
}

function publicUrl(text: string): URL {
  const fault = publicHttpsUrlFault(text);
  if (fault !== undefined) throw new FetchFault(fault);
  const url = new URL(text);
  if (url.port !== '') throw new FetchFault('must use port 443');
  return url;
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
  const contentType = reply.headers['content-type']?.replace(/;.*/s, '').trim().toLowerCase();
  return { bytes: Buffer.concat(chunks), ...(contentType ? { contentType } : {}) };
}
