import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, createServer as createTcpServer } from 'node:net';
import { PlatformFailure } from '../../../lib/platform/failure.ts';
import { platformTransport, type TransportOptions } from '../../../lib/platform/transport.ts';

const open: { close(): unknown }[] = [];

export function closeServers(): void {
  for (const server of open.splice(0)) server.close();
}

/** Listens on a free port of this machine until `closeServers`. */
export async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Makes a transport to a platform that answers as given. */
export async function platformThat(answers: RequestListener, options: Partial<TransportOptions> = {}) {
  const port = await listening(createServer(answers));
  return platformTransport({ baseUrl: `http://127.0.0.1:${port}`, version: 'v25.0', timeoutMs: 300, ...options });
}

/** Returns the failure of a call; any other end of it fails the test. */
export async function failureOf(call: Promise<unknown>): Promise<PlatformFailure> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof PlatformFailure) return error;
  throw new Error(`no PlatformFailure but ${String(error)}`);
}

export const send = { method: 'POST', path: '1/messages', body: { to: '1' }, accessToken: 'token' } as const;
