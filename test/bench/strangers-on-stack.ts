import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import { audience, demoDid, orderUpdate } from '../../infra/local/demo/audience.ts';
import { call, type DemoClient, logIn } from '../../infra/local/demo/client.ts';
import type { RunningStack } from '../../infra/local/stack.ts';
import { receiverUrl, startWebhookReceiver } from '../../infra/local/webhook-receiver.ts';
import { report } from './figure.ts';

/** The number of the client that makes the trouble, and what the other client sends from. */
const troubledNumber = '300000000000001';
const otherDid = '5491100000002';

const messagesPerPhase = 60;
const campaignSize = 3_000;
const eventfulSize = 300;
const slowAnswerMs = 12_000;

const AcceptedSchema = v.object({ total: v.number() });

/**
 * How long single sends of one client take, from their answer to the platform, while a campaign of another client meets a number
 * that gives no answer, and while the events of that client wait for a receiver that takes twelve seconds: to an idle stack,
 * within one run (D44, D46).
 */
export async function benchStrangersOnStack(stack: RunningStack, signal: AbortSignal): Promise<void> {
  const { platformUrl } = stack.addresses;
  const troubled = await logIn(stack.addresses, 'supervisor1001', signal);
  const other = await logIn(stack.addresses, 'supervisor1002', signal);
  for (const client of [troubled, other]) await client.synchronize();
  const hold = (method: 'POST' | 'DELETE') => {
    const route = `${method} /_control/numbers/${troubledNumber}/holds`;
    const body = method === 'POST' ? { body: { code: 'no_answer' } } : {};
    return call({ baseUrl: platformUrl, route, ...body, signal });
  };
  const measure = () => waysMs(other, platformUrl, signal);

  // The workers of small requests have started.
  await measure();
  const idle = await measure();
  await hold('POST');
  await sendTo(troubled, campaignSize);
  tell('beside_a_silent_number', await measure(), idle);
  await hold('DELETE');

  const events = Promise.withResolvers<string>();
  const receiver = await startWebhookReceiver(stack.addresses.webhookReceiverPort, events.promise, async () => {
    await sleep(slowAnswerMs, undefined, { signal });
    return { status: 204 };
  });
  try {
    events.resolve(await troubled.receiveEvents(receiverUrl, ['message.sent', 'message.delivered', 'message.read']));
    await sendTo(troubled, eventfulSize);
    tell('beside_a_receiver_of_12_s', await measure(), idle);
    await troubled.stopEvents(receiverUrl);
  } finally {
    await receiver.close();
  }
}

async function sendTo(client: DemoClient, count: number): Promise<void> {
  const recipients = audience(count, randomInt(10 ** 8));
  await client.send({ did: demoDid, template: orderUpdate, recipients });
}

/** The ways of some messages, one after the other: the shortest first. */
async function waysMs(client: DemoClient, platformUrl: string, signal: AbortSignal): Promise<number[]> {
  const ways: number[] = [];
  for (const recipient of audience(messagesPerPhase, randomInt(10 ** 8))) {
    await client.send({ did: otherDid, template: orderUpdate, recipients: [recipient] });
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

/** A machine that is busy delays the longest of either by chance: the middle is compared. */
function tell(figure: string, ways: readonly number[], idle: readonly number[]): void {
  const middle = (of: readonly number[]) => of[Math.floor(of.length / 2)] ?? Number.POSITIVE_INFINITY;
  const value = middle(ways) / middle(idle);
  report({ figure: `strangers_on_stack.${figure}`, value, unit: 'times idle, p50', limit: 2 });
  report({
    figure: `strangers_on_stack.${figure}_longest`,
    value: (ways.at(-1) ?? 0) / (idle.at(-1) ?? 1),
    unit: 'times idle',
  });
}
