import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach } from 'vitest';

export type Answer = (response: ServerResponse) => unknown;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

/** Starts a server for each test of a file: it gives `answers` in turn, and repeats the last one. */
export function answeringServer(usual: Answer) {
  const service = { endpoint: '', answers: [usual], asked: [] as Asked[], close: () => {} };
  beforeEach(async () => {
    Object.assign(service, { answers: [usual], asked: [] });
    const server = createServer(async (request, response) => {
      const { method = '', url: path = '', headers, socket } = request;
      service.asked.push({ method, path, headers, socket, body: await text(request) });
      (service.answers[service.asked.length - 1] ?? service.answers.at(-1))?.(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    service.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service.close = () => {
      server.closeAllConnections();
      server.close();
    };
  });
  afterEach(() => service.close());
  return service;
}
