import { bareHost, publicHttpsUrlFault } from '../../http/public-url.ts';
import { ConnectFault, type PublicNetwork, publicNetwork, requestPublic } from '../../http/request-network.ts';
import type { PostAnswer } from './post-result.ts';

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The time runs from the DNS lookup to the head of the answer. */
  readonly totalMs: number;
}

const ports = new Set(['', '8443']);

/**
 * Posts JSON to a client's https URL on port 443 or 8443 (D34, R40). Only the status counts; the body stays unread. A
 * receiver cannot make it throw.
 */
export async function postPublic(
  post: Post,
  networkTo: (host: string) => Partial<PublicNetwork> = () => ({}),
): Promise<PostAnswer> {
  if (publicHttpsUrlFault(post.url) !== undefined) return { fault: 'not_public' };
  const url = new URL(post.url);
  if (!ports.has(url.port)) return { fault: 'refused_port' };
  const network = { ...publicNetwork, ...networkTo(bareHost(url)) };
  const deadline = AbortSignal.timeout(post.totalMs);
  const headers = {
    ...post.headers,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(post.body)),
  };
  try {
    const reply = await requestPublic({ url, method: 'POST', headers, body: post.body, network, deadline });
    reply.destroy();
    const retryAfter = reply.headers['retry-after'];
    return { status: reply.statusCode ?? 0, retryAfter };
  } catch (error) {
    if (!(error instanceof ConnectFault)) throw error;
    return { fault: deadline.aborted ? 'timeout' : error.code };
  }
}
