import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { type Addressee, call, type DemoClient, logIn, type Report } from '../../infra/local/demo/client.ts';
import { follow } from '../../infra/local/demo/follow-report.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { receiverUrl, startWebhookReceiver } from '../../infra/local/webhook-receiver.ts';
import { report } from './figure.ts';

/** The first number belongs to the client that makes trouble, the DID to the other client. */
const troubledNumber = '300000000000001';
const otherDid = '5491100000002';

const codesPerPhase = 60;
const campaignSize = 1_500;
const codesOfOther = 5_000;
const eventfulSize = 300;
const slowAnswerMs = 12_000;

/** A busy machine takes many times as long as an idle one. */
const quietLimitMs = 300_000;
const everyMs = 1_000;

const AcceptedSchema = v.object({ total: v.number() });

const loginCode = { name: 'login_code', language: 'en_US' };

/**
 * Compares the latency of one client's codes with the stack at rest, while another client sends 5,000 codes, has a slow
 * receiver of events, or meets a silent number (D44, D46).
 */
export async function benchStrangersOnStack(stack: RunningStack, signal: AbortSignal): Promise<void> {
  const { platformUrl } = stack.addresses;
  const troubled = await logIn(stack.addresses, 'supervisor1001', signal);
  const other = await logIn(stack.addresses, 'supervisor1002', signal);
  const ofNumber = (route: string, body?: unknown) => {
    const [method, path] = route.split(' ');
    return call({ baseUrl: platformUrl, route: `${method} /_control/numbers/${troubledNumber}${path}`, body, signal });
  };
  const setLevel = async (level: 'STANDARD' | 'HIGH') => {
    await ofNumber('POST ', { throughput: { level } });
    // A synchronization also reads the platform's state of the number.
    for (const client of [troubled, other]) await client.synchronize();
  };
  const send = async (template: typeof loginCode, recipients: readonly Addressee[]) => {
    const jobId = await troubled.send({ did: demoDid, template, recipients });
    const isOver = ({ counts }: Report) => counts.pending === 0;
    return () => follow({ client: troubled, did: demoDid, jobId, quietLimitMs, everyMs, signal, isOver });
  };
  const measure = () => waysMs(other, platformUrl, signal);
  /** `begin` makes the trouble, and returns what ends it. */
  const measureBeside = async (figure: string, begin: () => Promise<() => Promise<unknown>>) => {
    const idle = await measure();
    const end = await begin();
    tell(figure, await measure(), idle);
    await end();
  };

  // At 1,000 a second the machine itself would be busy, and its processes would wait for each other.
  await setLevel('STANDARD');
  // The first measurement starts the workers of small requests.
  await measure();
  await measureBeside('beside_5000_codes', () => send(loginCode, codesFor(codesOfOther)));
  await measureBeside('beside_a_receiver_of_12_s', async () => {
    const secret = Promise.withResolvers<string>();
    const receiver = await startWebhookReceiver(stack.addresses.webhookReceiverPort, secret.promise, async () => {
      await sleep(slowAnswerMs, undefined, { signal });
      return { status: 204 };
    });
    secret.resolve(await troubled.receiveEvents(receiverUrl, ['message.sent', 'message.delivered', 'message.read']));
    await send(orderUpdate, audience(eventfulSize, randomInt(10 ** 8)));
    return async () => {
      await troubled.stopEvents(receiverUrl);
      await receiver.close();
    };
  });
  await measureBeside('beside_a_silent_number', async () => {
    await ofNumber('POST /holds', { code: 'no_answer' });
    const ended = await send(orderUpdate, audience(campaignSize, randomInt(10 ** 8)));
    return async () => {
      await ofNumber('DELETE /holds');
      await ended();
    };
  });
  await setLevel('HIGH');
}

function codesFor(count: number): Addressee[] {
  return audience(count, randomInt(10 ** 8)).map(({ to }) => ({ to, params: { body: ['482913'] } }));
}

/** Sends some codes one after the other, and returns their latencies, the shortest first. */
async function waysMs(client: DemoClient, platformUrl: string, signal: AbortSignal): Promise<number[]> {
  const ways: number[] = [];
  for (const recipient of codesFor(codesPerPhase)) {
    await client.send({ did: otherDid, template: loginCode, recipients: [recipient] });
    const sentMs = performance.now();
    while (!(await isAccepted(recipient.to, platformUrl, signal))) await sleep(5, undefined, { signal });
    ways.push(performance.now() - sentMs);
  }
  return ways.toSorted((one, two) => one - two);
}

async function isAccepted(to: string, platformUrl: string, signal: AbortSignal): Promise<boolean> {
  const { json } = await call({ baseUrl: platformUrl, route: `GET /_control/messages?to=${to}&limit=1`, signal });
  return v.parse(AcceptedSchema, json).total > 0;
}

/** Compares the medians, because a busy machine delays the longest by chance. */
function tell(figure: string, ways: readonly number[], idle: readonly number[]): void {
  const middle = (of: readonly number[]) => of[Math.floor(of.length / 2)] ?? Number.POSITIVE_INFINITY;
  const value = middle(ways) / middle(idle);
  report({ figure: `strangers_on_stack.idle_before_${figure}`, value: middle(idle), unit: 'ms, p50' });
  report({ figure: `strangers_on_stack.${figure}`, value, unit: 'times idle, p50', limit: 2 });
  report({
    figure: `strangers_on_stack.${figure}_longest`,
    value: (ways.at(-1) ?? 0) / (idle.at(-1) ?? 1),
    unit: 'times idle',
  });
}
