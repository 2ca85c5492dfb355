import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/examples/typescript');
const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
  scripts: Record<'types' | 'check', string>;
};

/** Runs a line of a shell in the folder of the example, with the tools first that npm would find there. */
async function run(line: string, input = '') {
  const tools = [join(folder, 'node_modules/.bin'), join(root, 'node_modules/.bin')];
  const PATH = [...tools, process.env['PATH']].join(delimiter);
  const child = spawn(line, { cwd: folder, shell: true, env: { ...process.env, PATH } });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

const program = (name: string) => `"${process.execPath}" ${name}`;

let receiver: WebhookReceiver | undefined;
const probes = templateProbes();
beforeAll(async () => {
  expect(await run(scripts.types)).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await receiver?.close();
  await forgetWebhook(1001);
});

test.each([
  ['of the example', scripts.check],
  ['of the project', `"${join(root, 'node_modules/.bin/tsc')}"`],
])('the compiler %s takes the right calls and none of the wrong ones', async (_, compiler) => {
  expect(await run(compiler)).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('the tour in TypeScript comes to its end, and every template that can be sent is sent as it says', async () => {
  const login = `${addressOf('apiUrl')} supervisor1001 demo-supervisor1001`;
  const { code, stdout, stderr } = await run(`${program('tour.ts')} ${login}`);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/^synchronization started\ncreated PENDING\ndeleted typescript_\w+\nenabled 1\n/);
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
});

test('a delivery is judged in TypeScript as it is here', async () => {
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
  const draft = probes.draft();
  expect((await create(draft)).status).toBe(200);
  const { headers, body } = await eventually('a delivery', async () => {
    return deliveries.find((each) => each.verified && each.body.includes(draft.name));
  });

  const receive = `${program('receive.ts')} ${await secret.promise}`;
  const judge = (delivery: object) => run(receive, JSON.stringify(delivery));
  expect(await judge({ headers, body })).toEqual({
    code: 0,
    stdout: `template.created ${draft.name}\n`,
    stderr: '',
  });
  const wrong = { code: 1, stdout: '', stderr: 'the signature is wrong\n' };
  expect(await judge({ headers, body: body.replace('template.created', 'template.deleted') })).toEqual(wrong);
  expect(await judge({ headers: { ...headers, 'webhook-signature': 'v1,' }, body })).toEqual(wrong);
  const late = { ...headers, 'webhook-timestamp': '1' };
  expect(await judge({ headers: late, body })).toEqual({ ...wrong, stderr: 'the delivery is too old\n' });
});
