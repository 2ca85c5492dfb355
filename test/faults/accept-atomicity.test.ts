import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test } from 'vitest';
import { tableOf } from '../../lib/aws/table.ts';
import { Refusal } from '../../lib/http/refusal.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import { messageQueue } from '../../lib/messages/accept/message-queue.ts';
import { backlogKey } from '../../lib/messages/dispatch/backlog.ts';
import { senderWakeQueue } from '../../lib/messages/dispatch/sender-wake-queue.ts';
import { sliceStore } from '../../lib/messages/dispatch/slice-store.ts';
import type { WholeDispatch } from '../../lib/messages/dispatch/whole-dispatch.ts';
import { wakeForAccepted } from '../../lib/messages/sender/wake-accepted.ts';
import { acceptDispatch } from '../support/begun-dispatches.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { type Attempt, type Fault, injectFaults } from '../support/queue-faults.ts';
import { dispatchIdsOf, drainRequests, drainWakes } from '../support/queued-dispatches.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { thorough } from '../support/thorough.ts';

const table = await freshTable('messages');
const documents = localDocumentClient();
let dispatches = 0;

interface Faults {
  readonly queue?: (attempt: Attempt) => Fault | Promise<Fault>;
  readonly table?: (attempt: Attempt) => Fault;
}

/** Runs one acceptance under faults. Returns the answer to the client and the messages that leave by what is queued. */
async function accept(dispatch: WholeDispatch, faults: Faults, remainingMs = 29_000) {
  const [queueUrl, urgentQueueUrl] = await Promise.all([freshQueue(), freshQueue()]);
  const client = localQueueClient();
  const faultyDocuments = localDocumentClient();
  const queueAttempts = injectFaults(client, faults.queue ?? (() => undefined));
  const tableAttempts = injectFaults(faultyDocuments, faults.table ?? (() => undefined));
  const accepting = acceptDispatch(dispatch, {
    acceptance: acceptedDispatchesStore(tableOf(faultyDocuments, table, { nowMs: Date.now })),
    wake: (head, signal) =>
      wakeForAccepted(
        head,
        { limitOf: async () => 80, wake: senderWakeQueue({ client, url: queueUrl }), nowMs: Date.now },
        signal,
      ),
    urgentQueue: messageQueue(client, urgentQueueUrl),
    limitOf: async () => 80,
    remainingMs: () => remainingMs,
  });
  const told = await accepting.then(() => 'accepted', codeOf);
  const read = localQueueClient();
  const queued = { wakes: await drainWakes(read, queueUrl), requests: await drainRequests(read, urgentQueueUrl) };
  const { head } = dispatch;
  const entry = new GetCommand({ TableName: table, Key: backlogKey(head), ConsistentRead: true });
  // A sweep wakes what has begun.
  const found = (await documents.send(entry)).Item === undefined ? [] : [head];
  const sent = await dispatchIdsOf({ ...queued, wakes: [...queued.wakes, ...found] }, documents, table);
  const messages = queued.wakes.length + queued.requests.length;
  return { told, sent: sent.size, messages, queueAttempts: queueAttempts.length, tableAttempts: tableAttempts.length };
}

function codeOf(error: unknown): string {
  if (!(error instanceof Refusal)) throw error;
  return error.code;
}

function dispatchOf(recipients: number): WholeDispatch {
  dispatches += 1;
  return makeDispatch(makeRecipients(recipients), { dispatchId: `dispatch${dispatches}` });
}

const accepted = (count: number) => ({ told: 'accepted', sent: count });
const refused = { told: 'dispatch_unavailable', sent: 0 };
const kinds = ['before', 'after'] as const;
const counts = [1, 10, 11, 1_000, ...(thorough ? [10_000] : [])];

describe.each(counts)('all messages are accepted or none (R20): %i recipients', (count) => {
  test('with the queue failing at any attempt', async () => {
    for (const at of [1, 2, 3]) {
      for (const kind of kinds) {
        const once = await accept(dispatchOf(count), { queue: ({ number }) => (number === at ? kind : undefined) });
        expect(once).toMatchObject(accepted(count));
        const from = await accept(dispatchOf(count), { queue: ({ number }) => (number >= at ? kind : undefined) });
        // The queue of a dispatch only wakes.
        expect(from).toMatchObject(at === 1 && count <= 10 ? refused : accepted(count));
      }
    }
  });

  test('with the table failing from any attempt on', async () => {
    const whole = await accept(dispatchOf(count), {});
    expect(whole).toMatchObject({ ...accepted(count), messages: 1, queueAttempts: 1 });
    const every = Array.from({ length: whole.tableAttempts }, (_, at) => at + 1);
    const told = new Set<string>();
    for (const at of count <= 11 ? every : [1, ...every.slice(-2)]) {
      for (const kind of kinds) {
        const broken = await accept(dispatchOf(count), { table: ({ number }) => (number >= at ? kind : undefined) });
        told.add(broken.told);
        const expected = { accepted: accepted(count), dispatch_undecided: {} }[broken.told] ?? refused;
        expect(broken).toMatchObject(expected);
      }
    }
    // A straight request stores nothing before it is queued.
    const withTable = ['accepted', 'dispatch_unavailable', 'dispatch_undecided'];
    expect([...told].sort()).toEqual(count <= 10 ? ['accepted'] : withTable);
  });

  test('when what decides is not confirmed and the table cannot be written, it is not known', async () => {
    const { queueAttempts, tableAttempts } = await accept(dispatchOf(count), {});
    expect(queueAttempts).toBe(1);
    // The last two writes begin and list the dispatch.
    const storing = count <= 10 ? 0 : tableAttempts - 2;
    // What has begun refuses its withdrawal, and that answer is no lost reply.
    for (const kind of count <= 10 ? kinds : (['before'] as const)) {
      const broken = await accept(dispatchOf(count), {
        queue: () => 'after',
        table: ({ number }) => (number > storing ? kind : undefined),
      });
      expect(broken.told).toBe('dispatch_undecided');
    }
  });
});

test('what a worker has claimed before the reply of the queue was found lost is accepted', async () => {
  const dispatch = dispatchOf(10);
  const { told } = await accept(dispatch, {
    queue: async ({ number }): Promise<Fault> => {
      if (number > 1) await claim(dispatch);
      return 'after';
    },
  });
  expect(told).toBe('accepted');
});

async function claim({ head: { dispatchId, total } }: WholeDispatch): Promise<void> {
  const slices = sliceStore(tableOf(documents, table, { nowMs: Date.now }));
  await slices.claim({ key: { dispatchId, slice: 0 }, try: 0, owner: 'a worker', atMs: Date.now(), size: total });
}

test.each([10, 11])(
  '%i recipients: nothing is stored or queued by an invocation that is about to end',
  async (count) => {
    const nothing = { queueAttempts: 0, tableAttempts: 0 };
    expect(await accept(dispatchOf(count), {}, 12_499)).toMatchObject({ told: 'dispatch_unavailable', ...nothing });
  },
);
