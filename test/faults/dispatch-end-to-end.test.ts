import { randomUUID } from 'node:crypto';
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { beforeEach, expect, test } from 'vitest';
import { queueBody } from '../../lib/aws/queue-body.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { QueuedChunk } from '../../lib/messages/dispatch/chunk.ts';
import { chunksOfWave } from '../../lib/messages/fan-out/wave-chunks.ts';
import { paceStore } from '../../lib/messages/pace/pace-store.ts';
import { reserve } from '../../lib/messages/pace/reserve.ts';
import { countStates } from '../../lib/messages/report/outcome.ts';
import { outcomesStore } from '../../lib/messages/report/outcomes-store.ts';
import { composeMessage } from '../../lib/messages/request/compose.ts';
import { chunkQueue } from '../../lib/messages/send/chunk-queue.ts';
import { claimLifeMs } from '../../lib/messages/send/deadlines.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import type { EventSink } from '../../lib/webhooks/event.ts';
import { beginListed } from '../support/begun-dispatches.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../support/faults.ts';
import type { FlatPorts } from '../support/flat-ports.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { MemoryEvents } from '../support/memory-events.ts';
import { scenarioHead, startMs } from '../support/scenario-dispatch.ts';
import { freshQueue, freshTable, localDocumentClient, localQueueClient } from '../support/stores.ts';
import { TableWorkers } from '../support/table-workers.ts';
import { firstUnlessThorough } from '../support/thorough.ts';

let table: string;
let queueUrl: string;
let workers: TableWorkers;

beforeEach(async () => {
  table = await freshTable('messages');
  queueUrl = await freshQueue();
  workers = new TableWorkers(startMs);
});

const limitPerSecond = 1_000;
const everyMs = 1_000 / 900;

/** Returns the chunks of one wave of a dispatch that has begun, in the slots that its fan-out has reserved. */
async function wave(total: number): Promise<QueuedChunk[]> {
  const client = localDocumentClient();
  const dispatch = makeDispatch(makeRecipients(total), { ...scenarioHead, total });
  const { head, plan } = dispatch;
  const dispatches = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => startMs }));
  await dispatches.store(dispatch, new AbortController().signal);
  await beginListed(dispatches, { head, repeats: [] });
  const { phoneNumberId, clientId, dispatchId } = head;
  const lane = { clientId, lane: dispatchId };
  const paces = paceStore(tableOf(client, table, { nowMs: () => startMs }), { newWriter: randomUUID });
  const { firstPosition } = await reserve(paces, { phoneNumberId, limitPerSecond, ...lane, count: total }, startMs);
  const recipients = dispatch.recipients.map((recipient, index) => {
    return { index, to: recipient.to, request: composeMessage(plan, recipient, `${dispatchId}-${index}`) };
  });
  return chunksOfWave({ head, lane: dispatchId, limitPerSecond, recipients, firstPosition }, everyMs);
}

/** This platform fails as the seed says. It records what it really took, and the messages without an answer. */
function platformOf(seed: number) {
  const random = seededRandom(seed);
  const taken: number[] = [];
  const unclear = new Set<number>();
  const send: FlatPorts['send'] = async ({ request }) => {
    const index = indexOf(request);
    const fate = random();
    if (fate < 0.08) throw new PlatformFailure('refused', { code: 130429 });
    if (fate < 0.12) throw new PlatformFailure('not_sent');
    if (fate < 0.16) throw new PlatformFailure('refused', { code: 131026 });
    if (fate >= 0.2) taken.push(index);
    if (fate < 0.24) {
      unclear.add(index);
      throw new PlatformFailure('ambiguous');
    }
    const platformMessageId = `platform-${index}`;
    return fate < 0.28 ? { platformMessageId, messageStatus: 'paused' } : { platformMessageId };
  };
  return { taken, unclear, send };
}

function indexOf(request: object): number {
  const { biz_opaque_callback_data: messageId } = request as { readonly biz_opaque_callback_data?: string };
  return Number(messageId?.split('-').at(-1));
}

const databaseFaults: readonly Fault[] = [
  ...([{ kind: 'fail_before' }, { kind: 'lose_reply' }, { kind: 'throttle' }] as const),
  { kind: 'partial_batch', count: 1 },
];

test.each(firstUnlessThorough([1, 2, 3, 4]))(
  'real stores under faults and workers that are killed, seed %i: none twice, none lost (R13, R14, R16, R32)',
  async (seed) => {
    const total = 240;
    const client = localDocumentClient();
    injectFaults(client, seededFaults(seed, 0.1, databaseFaults));
    const queue = chunkQueue(localQueueClient(), { own: queueUrl, dispatch: queueUrl });
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
    const given = {
      ...{ events, send: platform.send },
      queue: {
        sendLater: (chunk: QueuedChunk) => queue.sendLater(chunk, 0),
        postpone: async () => undefined,
        hold: async () => undefined,
      },
    };
    /** Killed runs left these recipients. */
    const left = new Set<number>();

    const worker = async (body: string): Promise<readonly string[]> => {
      const calls = random() < 0.2 ? Math.ceil(random() * 45) : undefined;
      const again = await workers.run([body], workers.ports(client, table, given), calls);
      // Now and then an acknowledgement is lost, and a finished chunk is delivered again.
      if (again !== 'killed') return again.length > 0 || random() < 0.1 ? [body] : [];
      for (const index of indexesIn(body)) left.add(index);
      return [body];
    };
    const chunks = (await wave(total)).map(queueBody);
    const rest = async () => {
      // Every third chunk is in the queue twice, as after a repeated fan-out.
      let waiting = [...chunks, ...chunks.filter((_, at) => at % 3 === 0)];
      for (let round = 0; waiting.length > 0; round += 1) {
        if (round > 40) throw new Error(`${waiting.length} chunks do not come to rest`);
        const again = await Promise.all(waiting.map(worker));
        waiting = [...again.flat(), ...(await workers.ask(() => queued()))];
        await workers.time.sleep(claimLifeMs);
      }
    };
    await workers.pass(rest());

    expect(new Set(platform.taken).size).toBe(platform.taken.length);
    const nowMs = () => workers.time.nowMs;
    const reader = outcomesStore(tableOf(localDocumentClient(), table, { nowMs, pause: async () => undefined }));
    const dispatch = await reader.findStored(scenarioHead.dispatchId);
    const outcomes = dispatch === undefined ? [] : await reader.ofDispatch(dispatch);
    const counts = countStates(outcomes.map(({ state }) => state));
    expect(counts.pending).toBe(0);
    expect(counts.sent + counts.held + counts.failed + counts.unknown).toBe(total);
    expect(counts.held).toBeGreaterThan(0);
    expect(left.size).toBeGreaterThan(0);
    for (const [index, { state, code }] of outcomes.entries()) {
      const name = `${index} ${state} ${code}`;
      if (state !== 'unknown') expect(platform.taken.includes(index), name).toBe(['sent', 'held'].includes(state));
      else expect(code === 'worker_lost' ? left : platform.unclear, name).toContain(index);
    }
    expect(counts.sent).toBeGreaterThan(total / 2);
    const unexpected = outcomes.filter(({ state }) => state !== 'sent');
    expect([...told.values()].sort()).toEqual(
      unexpected.map(({ messageId, state }) => `${messageId} message.${state}`).sort(),
    );
  },
);

function indexesIn(body: string): number[] {
  const { slices } = JSON.parse(body) as QueuedChunk;
  return slices.flatMap(({ recipients }) => recipients.map(({ index }) => index));
}

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

test('thirty messages of a released wave: two writes for each ten, and no more reads, seen on the wire (R15)', async () => {
  const [chunk] = await wave(30);
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, () => undefined);
  const queueClient = localQueueClient();
  const { attempts: queued } = injectFaults(queueClient, () => undefined);
  const ports = workers.ports(client, table, {
    queue: chunkQueue(queueClient, { own: queueUrl, dispatch: queueUrl }),
    events: new MemoryEvents(),
    send: async ({ request }) => ({ platformMessageId: `platform-${indexOf(request)}` }),
  });
  expect(await workers.pass(workers.run([queueBody(chunk)], ports))).toEqual([]);
  const commands = Map.groupBy(attempts, ({ command }) => command);
  expect(Object.fromEntries([...commands].map(([command, of]) => [command, of.length]))).toEqual({
    // The worker reads whether the platform is down.
    GetItemCommand: 1,
    PutItemCommand: 6,
    // The worker reads number and dispatch when it places the chunk, and after each claim.
    BatchGetItemCommand: expect.any(Number),
  });
  expect(commands.get('BatchGetItemCommand')?.length).toBeLessThanOrEqual(5);
  expect(queued).toEqual([]);
});
