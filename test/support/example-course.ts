import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { type Delivery, receiverUrl, startWebhookReceiver } from '../../infra/local/webhook-receiver.ts';
import { addressOf } from './addresses.ts';
import { api, eventually, tokenOf } from './api.ts';
import { forgetWebhook } from './forget-webhook.ts';
import { create, type Draft } from './template-probes.ts';

// What every program of test/examples has to do, whatever it is written in.

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of one language: `tour` or `receive`, with its arguments and what it reads. */
export type Program = (name: 'tour' | 'receive', given: readonly string[], input?: string) => Promise<Ended>;

/** Runs a command to its end. */
export async function ended(command: readonly string[], options: object, input = ''): Promise<Ended> {
  const [name = '', ...given] = command;
  const child = spawn(name, given, { ...options, stdio: 'pipe' });
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.once('close', resolve)),
  ]);
  return { code, stdout, stderr };
}

const sendable = [
  ...['order_update', 'welcome_offer', 'login_code', 'store_visit', 'spring_picks'],
  ...['single_pick', 'city_tour', 'coupon_drop', 'bid_offer'],
];

/** The tour comes to its end, and every template that can be sent is sent as it says. */
export async function expectTour(program: Program, language: string): Promise<void> {
  const { code, stdout, stderr } = await program('tour', [
    addressOf('apiUrl'),
    'supervisor1001',
    'demo-supervisor1001',
  ]);
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    new RegExp(`^synchronization started\\ncreated PENDING\\ndeleted ${language}_\\w+\\nenabled 1\\n`),
  );
  const sent = [...stdout.matchAll(/^sent (\w+) (\w+) /gm)].map(([, name, state]) => [name, state]);
  expect(new Map(sent as [string, string][])).toEqual(
    new Map(sendable.map((name) => [name, expect.stringMatching(/^(?:sent|delivered|read)$/)])),
  );
  expect(stdout).toContain('not sendable named_params - ');
  expect(stdout).toMatch(/^refused invalid_recipients recipients\[0\]\./m);
}

/** The delivery that tells of a creation is judged as it is here: the right one is taken, one changed, unsigned or late is not. */
export async function expectJudged(program: Program, draft: Draft): Promise<void> {
  const deliveries: Delivery[] = [];
  const secret = Promise.withResolvers<string>();
  const receiver = await startWebhookReceiver(addressOf('webhookReceiverPort'), secret.promise, (delivery) => {
    deliveries.push(delivery);
    return undefined;
  });
  try {
    const configured = await api('PUT /v1/webhook/config', {
      token: await tokenOf('supervisor1001'),
      headers: { 'webhook-secret-rotate': 'true' },
      body: { url: receiverUrl, active: true },
    });
    secret.resolve(configured.headers.get('webhook-secret') ?? '');
    expect((await create(draft)).status).toBe(200);
    const { headers, body } = await eventually('a delivery', async () => {
      return deliveries.find((each) => each.verified && each.body.includes(draft.name));
    });

    const judge = async (delivery: object) => program('receive', [await secret.promise], JSON.stringify(delivery));
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
  } finally {
    await receiver.close();
    await forgetWebhook(1001);
  }
}
