import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiverUrl, trustedReceiver } from '../../infra/local/webhook-receiver.ts';
import { addressOf } from '../support/addresses.ts';
import { api, tokenOf } from '../support/api.ts';
import { runScript, type ScriptRun } from '../support/processes.ts';
import { noteRunningStack } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'listen-'));
const stackFile = join(folder, 'stack.json');
const script = 'infra/local/webhooks-listen.ts';
const running: ScriptRun[] = [];

beforeAll(() => noteRunningStack(stackFile));

afterAll(() => {
  for (const { child } of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function listen(): ScriptRun {
  const run = runScript(script, { arguments: ['--stack', stackFile, '--user', 'supervisor1002'] });
  running.push(run);
  return run;
}

const configuration = async () =>
  (await api('GET /v1/webhook/config', { token: await tokenOf('supervisor1002') })).body;

/** A delivery of nobody, over TLS to where deliveries to the receiver's name are connected. */
function forge(): Promise<number | undefined> {
  const { host, port, ca } = trustedReceiver(addressOf('webhookReceiverPort'));
  const options = { host: '127.0.0.1', port, ca, servername: host, method: 'POST', path: '/events', agent: false };
  return new Promise((resolve, reject) => {
    const outgoing = request({ ...options, headers: { 'webhook-id': 'evt_forged' } }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    outgoing.on('error', reject);
    outgoing.end('{"type":"template.created"}');
  });
}

test('it registers a receiver, tells a forged delivery, and switches the events off when it ends', async () => {
  const run = listen();
  await run.line(/events of the client of supervisor1002 are printed here/);
  expect(await configuration()).toEqual({ client_id: 1002, url: receiverUrl, active: true });

  expect(await forge()).toBe(400);
  expect(await run.line(/evt_forged/)).toContain('NOT VERIFIED');

  const second = await listen().ended;
  expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('running already')]);

  run.child.kill('SIGINT');
  const { code, stdout, stderr } = await run.ended;
  expect([code, stderr]).toEqual([0, `the local stack at ${addressOf('apiUrl')}\n`]);
  expect(stdout).not.toContain('whsec_');
  expect(await configuration()).toEqual({ client_id: 1002, url: receiverUrl, active: false });
});

test('without a running stack it says what to do', async () => {
  const { code, stderr } = await runScript(script, { arguments: ['--stack', join(folder, 'none.json')] }).ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining('npm start')]);
});
