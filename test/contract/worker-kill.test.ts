import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SQSClient } from '@aws-sdk/client-sqs';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chosenDynamoDb } from '../../infra/local/preflight.ts';
import { type RunningStack, startStack } from '../../infra/local/stack.ts';
import { resourceName } from '../../infra/names.ts';
import type { Target } from '../../infra/operate/target.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { type SliceKey, sliceSize } from '../../lib/messages/dispatch/slice.ts';
import { sliceKeyOf } from '../../lib/messages/dispatch/slice-items.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import type { Outcomes } from '../../lib/messages/report/outcomes-store.ts';
import { claimLifeMs } from '../../lib/messages/send/deadlines.ts';
import { firstHeartbeatMs } from '../../lib/messages/send/visibility-heartbeat.ts';
import { addressOf } from '../support/addresses.ts';
import { apiAt, call, eventually } from '../support/api.ts';
import { tellAt } from '../support/callback.ts';
import { endingsOf, messagesHeld, outcomesOn, queueClientAt, runningTarget } from '../support/running-target.ts';

/*
 * Workers of a whole stack are killed with SIGKILL (R19). The stack is the file's own, because the tests age claims by
 * hand, which would take minutes otherwise.
 */

/** A killed run keeps the deliveries that it has held invisible for so long (visibility-heartbeat.ts). */
const heldSeconds = 30;
/** A worker has held its deliveries by then, even on a busy machine. */
const untilHeldMs = firstHeartbeatMs.others + 3_000;
const did = '5491100000001';
let stack: RunningStack;
let sqs: SQSClient;
let target: Target;
let outcomes: Outcomes;
let token: string;

beforeAll(async () => {
  stack = await startStack({
    apiPort: 0,
    platformPort: 0,
    outputDirectory: join(import.meta.dirname, '..', '..', 'dist', `cdk-worker-kill-${process.pid}`),
    dynamodb: chosenDynamoDb({ ...process.env, DATA: '' }),
    onLog: ({ functionName, text }) => appendFileSync(addressOf('functionLog'), `${functionName} | ${text}\n`),
  });
  const { apiUrl, platformUrl, sqsEndpoint } = stack.addresses;
  // Receipts would settle the outcomes, which the service must derive itself here.
  await tellAt(platformUrl, null);
  sqs = queueClientAt(sqsEndpoint);
  target = runningTarget(stack.addresses);
  outcomes = outcomesOn(target);
  const body = { username: 'supervisor1001', password: 'demo-supervisor1001' };
  token = (await apiAt(apiUrl, 'POST /login', { body })).body.access_token;
}, 60_000);

afterAll(async () => {
  sqs?.destroy();
  await stack?.stop();
});

function queueUrl(purpose: string): string {
  return stack.addresses.queueUrls[resourceName('local', purpose)] ?? '';
}

const platform = async (route: string, body?: unknown) =>
  (await call(stack.addresses.platformUrl, route, body === undefined ? {} : { body })).body;

async function accept(recipients: readonly string[]): Promise<string> {
  const reply = await apiAt(stack.addresses.apiUrl, `POST /v1/template/messages/${did}`, {
    token,
    body: {
      did,
      type: 'template',
      channel: 'MESSAGING',
      template: { name: 'order_update', language: 'en_US' },
      recipients: recipients.map((to) => ({ to, params: { body: ['Ana', to], buttons: [to] } })),
    },
  });
  if (reply.status !== 200) throw new Error(`the send was refused: ${reply.text}`);
  return reply.headers.get('dispatch-id') ?? '';
}

/** Kills every busy instance of the function, as if Lambda's host had died. */
function killBusy(functionName: string): number {
  const id = Object.values(stack.template.functions).find(
    ({ name }) => name === resourceName('local', functionName),
  )?.id;
  const busy = stack.runner.instances().filter(({ functionId, busy }) => functionId === id && busy);
  for (const { pid } of busy) process.kill(pid, 'SIGKILL');
  return busy.length;
}

async function requestsByRecipient(): Promise<Map<string, number>> {
  const { data } = await platform('GET /_control/requests?method=POST&path=/messages&limit=1000000');
  const counts = new Map<string, number>();
  for (const { body } of data) counts.set(body.to, (counts.get(body.to) ?? 0) + 1);
  return counts;
}

async function storedSlice(key: SliceKey) {
  const client = target.documentClient;
  return await sliceStore(tableOf(client, target.tableName('messages'), { nowMs: Date.now })).find(key);
}

/** Ages the claim until its worker cannot be running any more. */
async function makeOlder(key: SliceKey): Promise<void> {
  await target.documentClient.send(
    new UpdateCommand({
      TableName: target.tableName('messages'),
      Key: sliceKeyOf(key),
      UpdateExpression: 'SET atMs = atMs - :life',
      ExpressionAttributeValues: { ':life': claimLifeMs + 1_000 },
    }),
  );
}

async function queueHolds(purpose: string, count: number): Promise<void> {
  await eventually(`the queue ${purpose} holds ${count}`, async () =>
    (await messagesHeld(sqs, queueUrl(purpose))) === count ? true : undefined,
  );
}

// The tests wait for redelivery, and machines may be busy.
vi.setConfig({ testTimeout: 180_000 });

describe('kill -9 of a dispatch worker between claim and outcome', () => {
  const slow = '549310000001';
  const quick = Array.from({ length: 13 }, (_, index) => String(549_310_000_010 + index));

  test.each([
    {
      what: 'a dispatch, the platform took the message afterwards',
      recipients: [slow, ...quick],
      ...{ worker: 'messages-dispatch', queue: 'dispatch', ownMessage: 1, action: {}, taken: 1 },
    },
    {
      what: 'a small request, the platform never took the message',
      recipients: [slow, ...quick.slice(0, 4)],
      ...{ worker: 'messages-dispatch-urgent', queue: 'urgent', ownMessage: 0, action: { drop: 'before' }, taken: 0 },
    },
  ])('$what: its slice is unknown, all are asked once, none is sent again', async (killed) => {
    const { recipients, action } = killed;
    await platform('POST /_control/reset', {});
    await platform('POST /_control/faults', { match: { to: slow }, action: { delay_ms: 60_000, ...action } });
    const dispatchId = await accept(recipients);
    await eventually('every message has reached the platform', async () =>
      (await requestsByRecipient()).size === recipients.length ? true : undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, untilHeldMs));
    expect(killBusy(killed.worker)).toBeGreaterThan(0);

    // The other slices have ended, each with the platform's answer.
    const slices = Array.from({ length: Math.ceil(recipients.length / sliceSize) }, (_, slice) => ({
      dispatchId,
      slice,
    }));
    const states = (await Promise.all(slices.map(storedSlice))).map((slice) => slice?.state);
    expect(states).toEqual(slices.map(({ slice }) => (slice === 0 ? 'claimed' : 'ended')));
    await makeOlder({ dispatchId, slice: 0 });
    await platform('DELETE /_control/faults');

    // A report would say unknown by the age of the claim alone, so the stored slice shows the redelivery.
    await eventually(
      'another run ends the slice',
      async () => ((await storedSlice({ dispatchId, slice: 0 }))?.state === 'ended' ? true : undefined),
      90_000,
    );
    // A killed sender's own wake comes back after six time-outs: its successor's does not wait for it.
    await queueHolds(killed.queue, killed.ownMessage);
    const endings = await endingsOf(outcomes, dispatchId);
    const lost = { state: 'unknown', code: 'worker_lost' };
    expect(endings).toMatchObject(
      // Recipients in the slice of the slow one share its outcome, because their answers were never written.
      recipients.map((to, index) => ({ to, ...(index < sliceSize ? lost : { state: 'sent' }) })),
    );
    expect([...(await requestsByRecipient())].sort()).toEqual(recipients.map((to) => [to, 1]));
    expect((await platform(`GET /_control/messages?to=${slow}`)).total).toBe(killed.taken);
  });

  test('a claim that is still young is respected: nothing is sent, nothing is decided', async () => {
    await platform('POST /_control/faults', { match: { to: slow }, action: { delay_ms: 60_000 }, times: 1 });
    const before = (await requestsByRecipient()).get(slow) ?? 0;
    const dispatchId = await accept([slow]);
    await eventually('the message has reached the platform', async () =>
      (await requestsByRecipient()).get(slow) === before + 1 ? true : undefined,
    );
    await new Promise((resolve) => setTimeout(resolve, untilHeldMs));
    expect(killBusy('messages-dispatch-urgent')).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, (heldSeconds + 5) * 1_000));
    expect((await storedSlice({ dispatchId, slice: 0 }))?.state).toBe('claimed');
    expect((await outcomes.ofMessage({ dispatchId, index: 0 })).state).toBe('pending');
    expect((await requestsByRecipient()).get(slow)).toBe(before + 1);
    expect(await messagesHeld(sqs, queueUrl('urgent'))).toBe(1);
  });
});
