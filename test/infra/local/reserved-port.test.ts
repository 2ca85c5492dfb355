import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { reservePort } from '../../../infra/local/reserved-port.ts';

const ending: (() => unknown)[] = [];
afterEach(() => {
  for (const end of ending.splice(0)) end();
});

/** Returns `listening`, or the error code. */
function listen(port: number): Promise<string | undefined> {
  const server = createServer();
  ending.push(() => server.close());
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen(port, '127.0.0.1', () => resolve('listening'));
  });
}

test('a held port is given to no other program and serves no request, until it is released', async () => {
  const held = await reservePort(0);
  ending.push(held.stop);
  expect(await listen(held.number)).toBe('EADDRINUSE');
  await expect(fetch(`http://127.0.0.1:${held.number}`)).rejects.toThrow();
  await held.stop();
  await held.stop();
  expect(await listen(held.number)).toBe('listening');
});

test('a port in use cannot be held', async () => {
  const held = await reservePort(0);
  ending.push(held.stop);
  await expect(reservePort(held.number)).rejects.toThrow('EADDRINUSE');
});
