import { randomUUID } from 'node:crypto';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeEach, expect, test } from 'vitest';
import { sleep } from '../../lib/aws/pause.ts';
import { acceptanceStore } from '../../lib/messages/accept/acceptance-store.ts';
import type { Delivery, DispatchPorts } from '../../lib/messages/dispatch/breaker.ts';
import { breakerStore } from '../../lib/messages/dispatch/breaker-store.ts';
import { claimLifeMs } from '../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { dispatchQueue } from '../../lib/messages/fan-out/dispatch-queue.ts';
import type { JobHead } from '../../lib/messages/job.ts';
import { jobStateStore } from '../../lib/messages/job-state-store.ts';
import { countStates } from '../../lib/messages/outcomes/outcome.ts';
import { outcomesStore } from '../../lib/messages/outcomes/outcomes-store.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { reserve } from '../../lib/messages/pace/reserve.ts';
import { urgentStore } from '../../lib/messages/pace/urgent-store.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import type { EventSink } from '../../lib/webhooks/event.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../support/faults.ts';
import { idlePaces } from '../support/idle-paces.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { firstUnlessThorough } from '../support/thorough.ts';
import { dispatchMessage, startMs } from '../support/scenario-job.ts';

let table: string;
let queueUrl: string;
/** Moves by itself past every delay, so that nothing waits in real time. */
let nowMs: number;

beforeEach(async () => {
  table = await freshTable('messages');
  queueUrl = await freshQueue();
  nowMs = startMs;
});

/** A platform that misbehaves as the seed says and remembers what it really took. */
function platformOf(seed: number) {
  const random = seededRandom(seed);
  const taken: number[] = [];
  const send: DispatchPorts['send'] = async ({ index }) => {
    const fate = random();
    if (fate < 0.08) throw new PlatformFailure('refused', { code: 130429 });
    if (fate < 0.12) throw new PlatformFailure('not_sent');
    if (fate < 0.16) throw new PlatformFailure('refused', { code: 131026 });
    if (fate < 0.2) throw new PlatformFailure('ambiguous');
    taken.push(index);
    if (fate < 0.24) throw new PlatformFailure('ambiguous');
    const platformMessageId = `platform-${index}`;
    return fate < 0.28 ? { platformMessageId, messageStatus: 'paused' } : { platformMessageId };
  };
  return { taken, send };
}

const databaseFaults: readonly Fault[] = [{ kind: 'fail_before' }, { kind: 'lose_reply' }, { kind: 'throttle' }];

test.each(firstUnlessThorough([1, 2, 3]))(
  'real stores under faults, seed %i: none twice, none lost (R13, R14, R16, R32)',
  async (seed) => {
    const total = 120;
    const client = localDocumentClient();
    injectFaults(client, seededFaults(seed, 0.05, databaseFaults));
    const queue = dispatchQueue(localQueueClient(), queueUrl);
    const platform = platformOf(seed);
    const random = seededRandom(seed + 100);
    const told = new Map<string, string>();
    const events: EventSink = {
      send: async (batch) => {
        if (random() < 0.1) throw new Error('the event queue takes nothing');
        for (const { id, type, data } of batch)
          told.set(id, 'message_id' in data ? `${data.message_id} ${type}` : type);
      },
    };
    const store = dispatchStore({ client, table, nowMs: () => nowMs });
    // Every tenth message is in the queue twice, as after a repeated fan-out.
    let waiting: string[] = Array.from({ length: total }, (_, index) =>
      JSON.stringify(dispatchMessage(index, { limitPerSecond: 1_000 })),
    );
    waiting.push(...waiting.filter((_, index) => index % 10 === 0));

    for (let round = 0; waiting.length > 0; round += 1) {
      if (round > 30) throw new Error(`${waiting.length} messages do not come to rest`);
      const bodies = waiting;
      waiting = [];
      for (let first = 0; first < bodies.length; first += 10) {
        const batch = bodies.slice(first, first + 10).map((body, position) => delivery(body, String(position)));
        const failed = await dispatchBatch(batch, {
          claims: store,
          doubts: doubtStore(client, table),
          paces: paceStore({ client, table, nowMs: () => nowMs, newWriter: randomUUID, pause: async () => undefined }),
          tenths: urgentStore(client, table),
          jobStates: jobStateStore(client, table, async () => undefined),
          straightJobs: acceptanceStore(client, table, () => nowMs),
          newHolds: idlePaces.newHolds,
          ready: idlePaces.ready,
          breakers: breakerStore({ client, table, nowMs: () => nowMs }),
          probe: idlePaces.probe,
          events,
          queue: {
            sendLater: (message) => queue.sendLater(message, 0),
            postpone: async () => undefined,
            hold: async () => undefined,
          },
          send: platform.send,
          invocation: `run-${round}-${first}`,
          nowMs: () => nowMs,
          remainingMs: () => 60_000,
          random: () => 0,
          pause: async () => undefined,
          log: () => undefined,
        });
        // Failed ones come again; now and then an acknowledgement is lost and a finished one comes again too.
        waiting.push(
          ...batch.filter(({ messageId }) => failed.includes(messageId) || random() < 0.1).map(({ body }) => body),
        );
      }
      waiting.push(...(await queued()));
      nowMs += claimLifeMs;
    }

    expect(new Set(platform.taken).size).toBe(platform.taken.length);
    const reader = outcomesStore({
      client: localDocumentClient(),
      table,
      nowMs: () => nowMs,
      pause: async () => undefined,
    });
    const head = { jobId: 'J', total } as JobHead;
    const outcomes = await reader.ofJob({ head, repeats: [], recipients: new Map() });
    const counts = countStates(outcomes.map(({ state }) => state));
    expect(counts.pending).toBe(0);
    expect(counts.sent + counts.held + counts.failed + counts.unknown).toBe(total);
    expect(counts.held).toBeGreaterThan(0);
    for (const [index, { state }] of outcomes.entries()) {
      if (state !== 'unknown')
        expect(platform.taken.includes(index), `${index} ${state}`).toBe(['sent', 'held'].includes(state));
    }
    expect(counts.sent).toBeGreaterThan(80);
    const unexpected = outcomes.filter(({ state }) => state !== 'sent');
    expect([...told.values()].sort()).toEqual(
      unexpected.map(({ dispatchId, state }) => `${dispatchId} message.${state}`).sort(),
    );
  },
);

function delivery(body: string, messageId: string): Delivery {
  return { messageId, receiptHandle: '', body };
}

/** Takes everything out of the queue. */
async function queued(): Promise<string[]> {
  const client = localQueueClient();
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await client.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, MaxNumberOfMessages: 10 }),
    );
    if (Messages.length === 0) return bodies;
    bodies.push(...Messages.map(({ Body }) => Body ?? ''));
  }
}

test('ten messages of a released wave: one write each and one a batch, and two reads, seen on the wire (R15)', async () => {
  const number = { phoneNumberId: dispatchMessage(0).phoneNumberId, limitPerSecond: 1_000 };
  const lane = { clientId: 1001, lane: 'J' };
  const paces = (client: DynamoDBDocumentClient) =>
    paceStore({ client, table, nowMs: () => nowMs, newWriter: randomUUID });
  const { firstPosition } = await reserve(paces(localDocumentClient()), { ...number, ...lane, count: 10 }, nowMs);
  const batch = Array.from({ length: 10 }, (_, index) => {
    const message = dispatchMessage(index, { ...number, turn: { ...lane, position: firstPosition + index } });
    return delivery(JSON.stringify(message), `${index}`);
  });
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, () => undefined);
  const queueClient = localQueueClient();
  const { attempts: queued } = injectFaults(queueClient, () => undefined);
  await dispatchBatch(batch, {
    claims: dispatchStore({ client, table, nowMs: () => nowMs }),
    doubts: doubtStore(client, table),
    paces: paces(client),
    tenths: urgentStore(client, table),
    jobStates: jobStateStore(client, table),
    straightJobs: acceptanceStore(client, table, () => nowMs),
    newHolds: idlePaces.newHolds,
    ready: idlePaces.ready,
    breakers: breakerStore({ client, table, nowMs: () => nowMs }),
    probe: idlePaces.probe,
    events: new MemoryEvents(),
    queue: dispatchQueue(queueClient, queueUrl),
    send: async ({ index }) => ({ platformMessageId: `platform-${index}` }),
    invocation: 'run-1',
    nowMs: () => nowMs,
    remainingMs: () => 60_000,
    random: () => 0,
    // Enough to let those be claimed that are claimed at once.
    pause: async () => await sleep(25),
    log: () => undefined,
  });
  const commands = Map.groupBy(attempts, ({ command }) => command);
  expect(Object.fromEntries([...commands].map(([command, of]) => [command, of.length]))).toEqual({
    GetItemCommand: 2,
    PutItemCommand: 11,
    BatchGetItemCommand: expect.any(Number),
  });
  // How many claims a slow machine finishes before the first call is due decides how often the job is read.
  expect(commands.get('BatchGetItemCommand')?.length).toBeLessThanOrEqual(10);
  expect(queued).toEqual([]);
});
