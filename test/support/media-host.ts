import { readFileSync } from 'node:fs';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

const directory = join(import.meta.dirname, 'tls');

/** Tests trust this certificate alone, for media.example.com. Its key protects nothing. */
export const certificate = readFileSync(join(directory, 'certificate.pem'), 'utf8');

export interface MediaHost {
  readonly port: number;
  readonly requests: readonly IncomingMessage[];
  /** Each TLS handshake with a server name adds it. */
  readonly serverNames: readonly string[];
  close(): Promise<void>;
}

/** Starts media.example.com on this machine. */
export async function startMediaHost(answers: RequestListener): Promise<MediaHost> {
  const requests: IncomingMessage[] = [];
  const serverNames: string[] = [];
  const server = createServer(
    {
      key: readFileSync(join(directory, 'key.pem'), 'utf8'),
      cert: certificate,
      SNICallback: (name, done) => {
        serverNames.push(name);
        done(null);
      },
    },
    (request, response) => {
      requests.push(request);
      answers(request, response);
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    serverNames,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
