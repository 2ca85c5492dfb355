import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { probes } from '../../infra/operate/stage/smoke-probes.ts';
import { addressOf } from '../support/addresses.ts';
import { runScript } from '../support/processes.ts';

const script = 'infra/operate/ops.ts';
const smokeAt = (...given: readonly string[]) => ['check', '--smoke', '--api', ...given];
const environment = { SMOKE_USERNAME: 'supervisor1001', SMOKE_PASSWORD: 'demo-supervisor1001' };

test('the local gateway answers what infra/ops check --smoke expects of the real one', async () => {
  const { code, stdout } = await runScript(script, { arguments: smokeAt(addressOf('apiUrl')), environment }).ended;
  expect(stdout).not.toMatch(/^✗/m);
  expect(stdout.match(/^✓ /gm)?.length).toBe(probes.length);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(`${probes.length} good, 0 bad, 1 skipped`);
  expect(code).toBe(0);
});

test('a gateway that answers otherwise ends it with status 1', async () => {
  const server = createServer((_request, response) => response.end('{"status":"ok"}'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { code, stdout, stderr } = await runScript(script, {
    arguments: smokeAt(`http://127.0.0.1:${port}`),
    environment: { SMOKE_USERNAME: undefined, SMOKE_PASSWORD: undefined },
  }).ended;
  server.closeAllConnections();
  server.close();
  expect(code).toBe(1);
  expect(stdout).toMatch(/^✗ no such route: expected 404 .*, got 200 /m);
  expect(stdout).toMatch(/^\d good, \d+ bad, 3 skipped$/m);
  expect(stdout.split('\n').every((line) => line.length <= 100)).toBe(true);
  expect(stderr).toMatch(/^Not all is well\.$/m);
});

test('an address that is none, and a word that belongs to no option, are refused with status 2', async () => {
  for (const wrong of [['nonsense'], ['http://a.test', 'http://b.test']]) {
    const { code, stdout } = await runScript(script, { arguments: smokeAt(...wrong) }).ended;
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  }
});
