import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, startStack } from '../../infra/local/stack.ts';
import { routes } from '../../infra/routes.ts';
import { call } from '../support/api.ts';
import { builtDirectory } from '../support/built-functions.ts';

/**
 * The whole service runs with and without an edge, and is called over HTTP with headers that a caller invented (R38).
 */
const stacks = new Map<'edge' | 'none', RunningStack>();

beforeAll(async () => {
  for (const [name, options] of [
    ['edge', { edgeKeys: 'new-key,old-key' }],
    ['none', {}],
  ] as const) {
    const stack = await startStack({
      apiPort: 0,
      platformPort: 0,
      outputDirectory: join(builtDirectory, `cdk-edge-${process.pid}-${name}`),
      built: true,
      dynamodb: chosenDynamoDb({ ...process.env, DATA: '' }),
      ...options,
    });
    stacks.set(name, stack);
  }
}, 120_000);

afterAll(async () => {
  for (const stack of stacks.values()) await stack.stop();
}, 20_000);

const ask = (
  name: 'edge' | 'none',
  route: string,
  headers: Readonly<Record<string, string | undefined>>,
  body?: unknown,
) => call(stacks.get(name)?.addresses.apiUrl ?? '', route, { headers, ...(body === undefined ? {} : { body }) });

const viewerAt = (address: string) => ({ 'cloudfront-viewer-address': `${address}:50000` });
const right = { username: 'supervisor1001', password: 'demo-supervisor1001' };

/** Ten wrong passwords are free; the eleventh attempt of the same pair waits (D11). */
async function guessTenTimes(name: 'edge' | 'none', headersOf: (turn: number) => Readonly<Record<string, string>>) {
  for (let turn = 0; turn < 10; turn += 1) {
    const reply = await ask(name, 'POST /login', headersOf(turn), { ...right, password: `guess ${turn}` });
    expect(reply.status).toBe(401);
  }
}

describe('behind an edge', () => {
  const keys = [{}, { 'x-origin-key': 'made-up' }, { 'x-origin-key': 'new-key,old-key' }];
  const asked = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '1')}`);

  it.each(asked)('%s is refused unless it shows a key, whatever else it shows', async (route) => {
    for (const key of keys) {
      // The gateway refuses requests without a token by itself; any token reaches the endpoint.
      const headers = { ...key, ...viewerAt('203.0.113.1'), authorization: 'Bearer made-up' };
      expect(await ask('edge', route, headers)).toMatchObject({ status: 403, body: { code: 'edge_required' } });
    }
    const reply = await ask('edge', route, { 'x-origin-key': 'old-key', authorization: 'Bearer made-up' });
    expect(reply.body?.code).not.toBe('edge_required');
  });

  it('guesses count for the viewer that the edge names', async () => {
    const through = (address: string) => ({ 'x-origin-key': 'new-key', ...viewerAt(address) });
    await guessTenTimes('edge', () => through('203.0.113.1'));
    expect((await ask('edge', 'POST /login', through('203.0.113.1'), right)).status).toBe(401);
    expect((await ask('edge', 'POST /login', through('198.51.100.9'), right)).status).toBe(200);
  });
});

describe('without an edge', () => {
  it('every request is taken, with or without a key', async () => {
    for (const headers of [{}, { 'x-origin-key': 'made-up' }]) {
      expect((await ask('none', 'GET /health', headers)).status).toBe(200);
    }
  });

  it('guesses count for the caller, whatever viewer it makes up', async () => {
    const forged = (turn: number) => ({ 'x-origin-key': 'made-up', ...viewerAt(`203.0.113.${turn + 1}`) });
    await guessTenTimes('none', forged);
    expect((await ask('none', 'POST /login', forged(99), right)).status).toBe(401);
  });
});
