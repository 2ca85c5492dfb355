import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import {
  type Delivery,
  receiverUrl,
  startWebhookReceiver,
  type WebhookReceiver,
} from '../../infra/local/webhook-receiver.ts';
import { addressOf } from '../support/addresses.ts';
import { api, eventually, tokenOf } from '../support/api.ts';
import { forgetWebhook } from '../support/forget-webhook.ts';
import { create, templateProbes } from '../support/template-probes.ts';

const folder = join(import.meta.dirname, '../examples/python');
const hasPython = spawnSync('python3', ['--version']).status === 0;
// Where Python is known to be there, that it is not is a fault and not a reason to pass.
const isExpected = process.env['EXPECT_PYTHON'] !== undefined;
if (!hasPython && !isExpected) console.log('left out: the examples in Python, because there is no python3 here.');

async function run(program: string, given: readonly string[], input = '') {
  const child = spawn('python3', [join(folder, program), ...given], {
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

let receiver: WebhookReceiver | undefined;
const probes = templateProbes();
afterAll(async () => {
  await receiver?.close();
  await forgetWebhook(1001);
});

test.runIf(hasPython || isExpected)(
  'the tour in Python comes to its end, and every template that can be sent is sent as it says',
  async () => {
    const { code, stdout, stderr } = await run('tour.py', [
      addressOf('apiUrl'),
      'supervisor1001',
      'demo-supervisor1001',
    ]);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^synchronization started\ncreated PENDING\ndeleted python_\w+\nenabled 1\n/);
    const sent = [...stdout.matchAll(/^sent (\w+) (\w+) /gm)].map(([, name, state]) => [name, state]);
    expect(new Map(sent as [string, string][])).toEqual(
      new Map(
        [
          ...['order_update', 'welcome_offer', 'login_code', 'store_visit', 'spring_picks'],
          ...['single_pick', 'city_tour', 'coupon_drop', 'bid_offer'],
        ].map((name) => [name, expect.stringMatching(/^(?:sent|delivered|read)$/)]),
      ),
    );
    expect(stdout).toContain('not sendable named_params - ');
    expect(stdout).toMatch(/^refused invalid_recipients recipients\[0\]\./m);
  },
);

test.runIf(hasPython || isExpected)('a delivery is judged in Python as it is here', async () => {
  const deliveries: Delivery[] = [];
  const secret = Promise.withResolvers<string>();
  receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), secret.promise, (delivery) => {
    deliveries.push(delivery);
    return undefined;
  });
  const configured = await api('PUT /v1/webhook/config', {
    token: await tokenOf('supervisor1001'),
    headers: { 'webhook-secret-rotate': 'true' },
    body: { url: receiverUrl, active: true },
  });
  secret.resolve(configured.headers.get('webhook-secret') ?? '');
  expect((await create(probes.draft())).status).toBe(200);
  const delivery = await eventually('a delivery', async () => deliveries.find(({ verified }) => verified));

  const { headers, body } = delivery;
  const judged = await run('receive.py', [await secret.promise], JSON.stringify({ headers, body }));
  expect(judged).toEqual({ code: 0, stdout: expect.stringMatching(/^template\.created/), stderr: '' });
  const changed = { headers, body: body.replace('template.created', 'template.deleted') };
  expect(await run('receive.py', [await secret.promise], JSON.stringify(changed))).toEqual({
    code: 1,
    stdout: '',
    stderr: 'the signature is wrong\n',
  });
  const late = { headers: { ...headers, 'webhook-timestamp': '1' }, body };
  expect(await run('receive.py', [await secret.promise], JSON.stringify(late))).toMatchObject({
    code: 1,
    stderr: 'the delivery is too old\n',
  });
});
