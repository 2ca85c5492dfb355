import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PublicNetwork } from '../../lib/http/request-network.ts';
import { certificate, startMediaHost } from './media-host.ts';

export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  /** The receiver is reached as 127.0.0.1, which counts as a public address; no other address does. */
  readonly network: PublicNetwork;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

export type Answer = (response: ServerResponse, received: Received) => void;

/** Receives webhooks over TLS on this machine; it reads each request completely before it answers. */
export async function startReceiver(answer: Answer): Promise<Receiver> {
  const received: Received[] = [];
  const host = await startMediaHost((request, response) => {
    text(request).then(
      (body) => {
        const one = { method: request.method, path: request.url, headers: request.headers, body };
        received.push(one);
        answer(response, one);
      },
      () => response.destroy(),
    );
  });
  return {
    url: 'https://media.example.com/hook?a=1',
    network: {
      lookup: async () => [{ address: '127.0.0.1', family: 4 }],
      isAllowedAddress: (address) => address === '127.0.0.1',
      port: host.port,
      connectMs: 3_000,
      ca: certificate,
    },
    received,
    close: host.close,
  };
}
