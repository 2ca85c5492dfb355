import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';

export interface CountingProxy {
  readonly endpoint: string;
  taken(): number;
  stop(): void;
}

/** Starts a proxy before an emulator that counts every request on the wire, the client's retries included. */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  let count = 0;
  const server = createServer((incoming, outgoing) => {
    count += 1;
    pass(incoming, outgoing, target);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the counting proxy has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    taken: () => {
      const taken = count;
      count = 0;
      return taken;
    },
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function pass(incoming: IncomingMessage, outgoing: ServerResponse, target: string): void {
  const { method, headers } = incoming;
  const onward = request(new URL(incoming.url ?? '/', target), { method: method ?? 'POST', headers }, (reply) => {
    outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(outgoing);
  });
  onward.on('error', () => outgoing.destroy());
  incoming.pipe(onward);
}
