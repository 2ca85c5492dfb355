import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda';
import { beforeEach, expect, test } from 'vitest';
import { messagesFanOut } from '../../functions/messages-fan-out.ts';
import { tableOf } from '../../lib/aws/table.ts';
import {
  type AcceptedDispatches,
  acceptedDispatchesStore,
} from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { parameterStore } from '../../lib/messages/accept/parameter-store.ts';
import { encodeRound, type RoundMessage } from '../../lib/messages/accept/round-message.ts';
import { dispatchItemStore } from '../../lib/messages/dispatch/item-store.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import type { DispatchRounds } from '../../lib/messages/fan-out/dispatch-rounds.ts';
import { dispatchRoundsStore } from '../../lib/messages/fan-out/dispatch-rounds-store.ts';
import { asAccepted } from '../../lib/messages/fan-out/revalidate-dispatch.ts';
import { waveQueue } from '../../lib/messages/fan-out/wave-queue.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { countedBy } from '../support/counted.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { memoryPaces } from '../support/memory-numbers.ts';
import { noCosts } from '../support/no-costs.ts';
import { drainChunks } from '../support/round-messages.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';

const nowMs = 1_800_000_000_000;
const context = { getRemainingTimeInMillis: () => 60_000 } as Context;
const { signal } = new AbortController();
const total = 11;
let queueUrl: string;
let postponed: [string, number][];
let accepted: AcceptedDispatches;
let store: (dispatchId: string) => Promise<void>;
let rounds: DispatchRounds;
let sentAgain: [RoundMessage, number][];
let handle: (event: SQSEvent, context: Context) => Promise<unknown>;

beforeEach(async () => {
  const table = await freshTable('messages');
  queueUrl = await freshQueue();
  postponed = [];
  sentAgain = [];
  const client = localDocumentClient();
  const parameters = parameterStore(tableOf(client, table));
  accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  store = async (dispatchId) => {
    const dispatch = makeDispatch(makeRecipients(total), { dispatchId, acceptedAtMs: nowMs });
    await accepted.store(dispatch, signal);
    await accepted.begin(dispatch.head);
  };
  const { find, list } = accepted;
  rounds = dispatchRoundsStore(tableOf(client, table), { find, list, recipientsFrom: parameters.read });
  handle = fanOutOn(client, table);
});

function fanOutOn(client: DynamoDBDocumentClient, table: string): typeof handle {
  return messagesFanOut({
    dispatches: rounds,
    states: dispatchItemStore(tableOf(client, table)),
    slices: sliceStore(tableOf(client, table, { nowMs: () => nowMs })),
    events: new MemoryEvents(),
    queue: waveQueue(localQueueClient(), queueUrl),
    paces: memoryPaces(),
    limitOf: async () => 1_000,
    watch: { sendLater: async () => undefined },
    postpone: async (receiptHandle, seconds) => void postponed.push([receiptHandle, seconds]),
    sendAgain: async (dispatch, delaySeconds) => void sentAgain.push([dispatch, delaySeconds]),
    judge: async (dispatch) => asAccepted(dispatch),
    costStop: noCosts.costStop,
    countNow: noCosts.countNow,
    compose: composeMessage,
    nowMs: () => nowMs,
    random: () => 0,
    pause: async () => undefined,
    log: () => undefined,
  });
}

function record(name: string, body: string, deliveries = 1): SQSRecord {
  return {
    messageId: name,
    receiptHandle: `receipt of ${name}`,
    body,
    attributes: { SentTimestamp: String(nowMs - 1_000), ApproximateReceiveCount: String(deliveries) },
  } as SQSRecord;
}

function dispatchRecord(name: string, dispatchId: string): SQSRecord {
  return record(name, encodeRound({ dispatchId, clientId: 1001, acceptedAtMs: nowMs }));
}

async function queuedRecipients(): Promise<string[]> {
  const chunks = await drainChunks(localQueueClient(), queueUrl);
  return chunks.flatMap(({ dispatchId, slices }) =>
    slices.flatMap(({ recipients }) =>
      recipients.map(({ index, request }) => `${dispatchId}-${index} ${request?.['to']}`),
    ),
  );
}

const all = (dispatchId: string) => makeRecipients(total).map(({ to }, index) => `${dispatchId}-${index} ${to}`);

test('a dispatch that cannot be read fails alone; the other is fanned out', async () => {
  await store('A');
  const event = { Records: [record('poison', '{'), dispatchRecord('good', 'A')] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [{ itemIdentifier: 'poison' }] });
  expect(await queuedRecipients()).toEqual(all('A'));
});

test.each([
  [1, 30, 0],
  [2, 180, 0],
  [3, 1_080, 1],
  [4, 6_480, 1],
])(
  'after failed delivery %i a dispatch comes again in %i s, not after the visibility time-out; from the third on it is counted',
  async (deliveries, seconds, times) => {
    const lines = await countedBy(() => handle({ Records: [record('poison', '{', deliveries)] }, context));
    expect(postponed).toEqual([['receipt of poison', seconds]]);
    expect(lines.filter((line) => line['RoundsFailedAgain'] === 1)).toHaveLength(times);
  },
);

test('a delivery is held for a minute from the start of its run', async () => {
  await store('A');
  await handle({ Records: [dispatchRecord('good', 'A')] }, context);
  expect(postponed).toEqual([['receipt of good', 60]]);
});

test('a dispatch that was taken back, or never stored, is dropped', async () => {
  await accepted.store(makeDispatch(makeRecipients(total), { dispatchId: 'B', acceptedAtMs: nowMs }), signal);
  expect(await accepted.withdraw('B')).toBe('withdrawn');
  const event = { Records: [dispatchRecord('withdrawn', 'B'), dispatchRecord('unknown', 'NONE')] };
  expect(await handle(event, context)).toEqual({ batchItemFailures: [] });
  expect([await queuedRecipients(), sentAgain]).toEqual([[], []]);
});

test('without time for a wave what is left is sent again at once, and this delivery is done with', async () => {
  await store('C');
  const hurried = { getRemainingTimeInMillis: () => 14_999 } as Context;
  expect(await handle({ Records: [dispatchRecord('late', 'C')] }, hurried)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ dispatchId: 'C', round: 1 }, 0]]);
  expect(await queuedRecipients()).toEqual([]);
});

test('a message of a round that is over is dropped, and one whose round another run holds waits as a new message', async () => {
  await store('D');
  await handle({ Records: [dispatchRecord('first', 'D')] }, context);
  await handle({ Records: [dispatchRecord('again', 'D')] }, context);
  expect([await queuedRecipients(), sentAgain]).toEqual([all('D'), []]);
  await store('E');
  await rounds.take({ dispatchId: 'E', round: 0, owner: 'another run' }, nowMs);
  expect(await handle({ Records: [dispatchRecord('second', 'E')] }, context)).toEqual({ batchItemFailures: [] });
  expect(sentAgain).toMatchObject([[{ dispatchId: 'E' }, 45]]);
  expect(await queuedRecipients()).toEqual([]);
});
