import type { IncomingMessage } from 'node:http';
import { publicHttpsUrlFault } from './public-url.ts';
import { invalid } from './refusal.ts';
import { ConnectFault, type PublicNetwork, publicNetwork, requestPublic } from './request-network.ts';

export interface FetchedFile {
  readonly bytes: Buffer;
  /** The server declares it: lower case without parameters. */
  readonly contentType?: string;
}

export interface PublicFetchOptions {
  /** Every refusal begins with this path of the URL in the request. */
  readonly path: string;
  readonly maxBytes: number;
  readonly totalMs: number;
  readonly ports?: Partial<PublicNetwork>;
}

/** Its sentence continues the field's name. */
class FetchFault extends Error {}

/**
 * Fetches a client's URL without reaching the inside (R40): https on port 443, status 200, uncompressed. Refuses with
 * 400 other answers, large and slow ones.
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
