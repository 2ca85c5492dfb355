import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sampleEvent } from '../../infra/local/demo/sample-event.ts';
import { localRegion } from '../../infra/local/intrinsics.ts';
import { receiverUrl, trustedReceiver } from '../../infra/local/webhook-receiver.ts';
import { localQueue } from '../../infra/operate/target.ts';
import { eventTypes, isEventType } from '../../lib/webhooks/event.ts';
import { eventQueue } from '../../lib/webhooks/event-queue.ts';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, platform, tokenOf } from '../support/api.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { runScript, type ScriptRun } from '../support/processes.ts';
import { noteRunningStack } from '../support/running-target.ts';

const folder = mkdtempSync(join(tmpdir(), 'listen-'));
const stackFile = join(folder, 'stack.json');
const script = 'infra/operate/ops.ts';
const atStack = ['--stack', stackFile, '--user', 'supervisor1002'];
const running: ScriptRun[] = [];
const closing: (() => void)[] = [];

beforeAll(() => noteRunningStack(stackFile));

afterAll(async () => {
  for (const close of closing) close();
  for (const { child } of running) child.kill('SIGKILL');
  await forgetWebhook(1002);
  rmSync(folder, { recursive: true });
});

function listen(...more: readonly string[]): ScriptRun {
  const run = runScript(script, { arguments: ['events', 'listen', ...atStack, ...more] });
  running.push(run);
  return run;
}

const trigger = (kind: string) => runScript(script, { arguments: ['events', 'trigger', kind, ...atStack] });

const configuration = async () =>
  (await api('GET /v1/webhook/config', { token: await tokenOf('supervisor1002') })).body;

/** Posts a forged delivery over TLS, where the receiver's name resolves to this machine. */
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

test('it hands events on to a program, tells each attempt, and has a bad answer tried again', async () => {
  const deliveries: { readonly raw: string; readonly headers: IncomingHttpHeaders }[] = [];
  const ofEvent = (id: unknown) => deliveries.filter(({ headers }) => headers['webhook-id'] === id);
  const program = createServer(async (incoming, response) => {
    const { headers } = incoming;
    // Other files cause events of this client too, so each event has its own first attempt.
    const answer = ofEvent(headers['webhook-id']).length === 0 ? 500 : 204;
    deliveries.push({ raw: await text(incoming), headers });
    response.writeHead(answer).end();
  });
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
  closing.push(() => program.close());
  const url = `http://127.0.0.1:${(program.address() as AddressInfo).port}/hook`;

  const run = listen('--forward-to', url, '--events', 'all');
  const [, secret = ''] = /signed with (whsec_\S+), handed on to/.exec(await run.line(/^signed with/)) ?? [];
  await run.line(/events of the client/);
  const triggered = await trigger('message.read').ended;
  expect(triggered).toMatchObject({ code: 0 });
  const [, id = ''] = /^(evt_\w+) message\.read, on its way to/.exec(triggered.stdout) ?? [];

  await run.line(new RegExp(`message\\.read ${id} attempt 1: 500 in \\d+ ms, to be tried again`));
  await run.line(new RegExp(`message\\.read ${id} attempt 2: 204 in \\d+ ms$`));
  const [{ raw = '', headers = {} } = {}, ...repeated] = ofEvent(id);
  expect(repeated.map((each) => each.raw)).toEqual([raw]);
  const told = new Webhook(secret).verify(raw, headers as Record<string, string>);
  expect(told).toMatchObject({ type: 'message.read', data: { did: '5491100000002' } });
  const attempts = await eventually('the console has both attempts', async () => {
    const { body } = await platform('GET /_control/events');
    const found = body.data.filter((each: { readonly event_id: string }) => each.event_id === id);
    return found.length < 2 ? undefined : found;
  });
  expect(attempts).toMatchObject([
    { kind: 'message.read', client_id: 1002, outcome: 'delivered', attempt: 2 },
    { kind: 'message.read', client_id: 1002, outcome: 'failed', attempt: 1 },
  ]);

  run.child.kill('SIGINT');
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(await trigger('message.read').ended).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('has no webhook that is switched on: start infra/ops events listen'),
  });
});

test('every kind of event reaches a client that asks for all of them', async () => {
  const run = listen('--events', 'all');
  await run.line(/events of the client/);
  const { queueUrls, sqsEndpoint } = { queueUrls: addressOf('queueUrls'), sqsEndpoint: addressOf('sqsEndpoint') };
  const queue = localQueue({ queueUrls, sqsEndpoint, region: localRegion, stage: 'local' }, 'events');
  const subject = { clientId: 1002, did: '5491100000002', wabaId: '200000000000001' };
  const unique = { dispatchId: '01KAH00000000000000000000C', nowMs: Date.now() };
  const events = eventTypes.filter(isEventType).map((type) => sampleEvent(type, subject, unique));
  await eventQueue(queue.client, queue.url).send(events);
  await Promise.all(events.map(({ id }) => run.line(new RegExp(`${id} verified$`))));
  expect(events.length).toBeGreaterThan(10);
  run.child.kill('SIGINT');
  await run.ended;
});

test('a kind that there is not is told with those that there are', async () => {
  const { code, stderr } = await trigger('mesage.failed').ended;
  expect(code).toBe(2);
  expect(stderr).toContain(
    'mesage.failed is no kind of event; did you mean message.failed?\nKinds: template.created, ',
  );
});

test('without a running stack it says what to do', async () => {
  const { code, stderr } = await runScript(script, {
    arguments: ['events', 'listen', '--stack', join(folder, 'none.json')],
  }).ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining('npm start')]);
});
