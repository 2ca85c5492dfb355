import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { queueBody } from '../../lib/aws/queue-body.ts';
import { tableOf } from '../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../lib/messages/accept/accepted-dispatches-store.ts';
import type { QueuedChunk } from '../../lib/messages/dispatch/chunk.ts';
import { sliceOf } from '../../lib/messages/dispatch/slice.ts';
import { addressStore } from '../../lib/messages/receipts/address-store.ts';
import { processReceipts } from '../../lib/messages/receipts/process-receipts.ts';
import { provenSlicesStore } from '../../lib/messages/receipts/proven-slices-store.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { outcomesStore } from '../../lib/messages/report/outcomes-store.ts';
import type { ChunkWorkerPorts } from '../../lib/messages/send/chunk-ports.ts';
import { claimLifeMs } from '../../lib/messages/send/deadlines.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import { defaultEventTypes, type EventSink } from '../../lib/webhooks/event.ts';
import { chunkOf, slicesOf } from '../lib/messages/send/chunk-run-world.ts';
import { beginListed } from '../support/begun-dispatches.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../support/faults.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { makeDispatch, makeRecipients } from '../support/made-dispatches.ts';
import { noStops } from '../support/memory-opt-outs.ts';
import { noCosts } from '../support/no-costs.ts';
import { receiptBody, scenarioHead, startMs } from '../support/scenario-dispatch.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { TableWorkers } from '../support/table-workers.ts';
import { firstUnlessThorough } from '../support/thorough.ts';

const total = 90;
const { dispatchId } = scenarioHead;
const faults: readonly Fault[] = [
  { kind: 'fail_before' },
  { kind: 'lose_reply' },
  { kind: 'throttle' },
  { kind: 'partial_batch', count: 1 },
];

/** This platform fails as the seed says, also against its documentation. Its receipts come late and doubled. */
class Platform {
  readonly taken = new Map<number, string[]>();
  readonly lostBefore = new Set<number>();
  receipts: { readonly index: number; readonly body: string }[] = [];
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  readonly send = async (index: number): Promise<{ readonly platformMessageId: string }> => {
    const fate = this.#random();
    if (fate < 0.1) throw new PlatformFailure('not_sent');
    if (fate < 0.14) throw new PlatformFailure('refused', { code: 131026 });
    if (fate < 0.18) {
      this.lostBefore.add(index);
      throw new PlatformFailure('ambiguous');
    }
    this.#take(index, fate < 0.3 ? 'wrongly refused' : 'taken');
    if (fate < 0.3) throw new PlatformFailure('refused', { code: 130429 });
    if (fate < 0.4) throw new PlatformFailure('ambiguous');
    return { platformMessageId: `platform-${index}` };
  };

  #take(index: number, how: string): void {
    this.taken.set(index, [...(this.taken.get(index) ?? []), how]);
    const last = index % 7 === 0 ? 'failed' : 'delivered';
    const bodies = ['sent', last, last].map((status) => ({ index, body: receiptBody(index, status) }));
    // Some receipts come at once, most later, in any order.
    this.receipts = [...this.receipts, ...bodies].sort(() => this.#random() - 0.5);
  }

  some(): { readonly index: number; readonly body: string }[] {
    return this.receipts.splice(0, Math.ceil(this.receipts.length * this.#random()));
  }
}

/** A dispatch runs on the real stores, with workers that are killed and runs of receipts beside them. */
class World {
  readonly platform: Platform;
  readonly workers = new TableWorkers(startMs);
  readonly told = new Set<string>();
  /** These recipients were called although their receipts were recorded before the slice was claimed. */
  readonly calledThoughProven: number[] = [];
  /** Killed runs left these recipients. */
  readonly left = new Set<number>();
  readonly #random: () => number;
  readonly #client: DynamoDBDocumentClient;
  readonly #table: string;
  readonly #proven = new Set<number>();
  #waiting: string[];

  constructor(client: DynamoDBDocumentClient, table: string, seed: number) {
    [this.#client, this.#table] = [client, table];
    this.platform = new Platform(seed);
    this.#random = seededRandom(seed + 100);
    const slices = slicesOf(total);
    const chunks = [0, 3, 6].map((at) => slices.slice(at, at + 3));
    this.#waiting = chunks.map((some) => queueBody(chunkOf(some, { dispatchId, limitPerSecond: 1_000 })));
  }

  async workOff(): Promise<void> {
    for (let round = 0; this.#waiting.length > 0 || this.platform.receipts.length > 0; round += 1) {
      if (round > 60) throw new Error(`${this.#waiting.length} chunks do not come to rest`);
      await Promise.all([...this.#waiting.splice(0).map((body) => this.#work(body)), this.#recordBeside()]);
      await this.#record();
      await this.workers.time.sleep(claimLifeMs);
    }
  }

  async #work(body: string): Promise<void> {
    const calls = this.#random() < 0.15 ? Math.ceil(this.#random() * 45) : undefined;
    const end = await this.workers.run([body], this.#ports(), calls);
    if (end === 'killed') for (const index of indexesIn(body)) this.left.add(index);
    if (end === 'killed' || end.length > 0 || this.#random() < 0.1) this.#waiting.push(body);
  }

  #ports(): ReturnType<TableWorkers['ports']> {
    const known = new Map<number, ReadonlySet<number>>();
    const { slices, ...ports } = this.workers.ports(this.#client, this.#table, {
      events: this.#events,
      queue: {
        sendLater: async (chunk) => void this.#waiting.push(queueBody(chunk)),
        postpone: async () => undefined,
        hold: async () => undefined,
      },
      send: async ({ request }) => {
        const index = Number(String(request['biz_opaque_callback_data']).split('-').at(-1));
        if (known.get(sliceOf({ dispatchId, index }).slice)?.has(index)) this.calledThoughProven.push(index);
        return await this.platform.send(index);
      },
    });
    const claim: ChunkWorkerPorts['slices']['claim'] = async (claim) => {
      known.set(claim.key.slice, new Set(this.#proven));
      return await slices.claim(claim);
    };
    return { ...ports, slices: { ...slices, claim } };
  }

  readonly #events: EventSink = {
    send: async (events) => {
      if (this.#random() < 0.1) throw new Error('the event queue takes nothing');
      for (const { type, data } of events) if ('message_id' in data) this.told.add(`${data.message_id} ${type}`);
    },
  };

  /** Records receipts for as long as a round of the workers lasts. */
  async #recordBeside(): Promise<void> {
    for (let at = 0; at < 5; at += 1) {
      await this.workers.time.sleep(this.#random() * 500);
      await this.#record();
    }
  }

  async #record(): Promise<void> {
    const batch = this.platform.some();
    const access = { client: this.#client, name: this.#table, pause: async () => undefined };
    const nowMs = () => this.workers.time.nowMs;
    const queued = batch.map(({ body }, position) => ({ messageId: String(position), body }));
    const ports = {
      records: receiptStore(access),
      slices: provenSlicesStore(access),
      addressesOf: addressStore(access),
      changeHolds: async () => undefined,
      wanted: async () => defaultEventTypes,
      inbound: noStops.inbound,
      countCost: noCosts.countCost,
      ...{ events: this.#events, nowMs, remainingMs: () => 60_000, log: () => undefined },
    };
    const failed = await this.workers.ask(() => processReceipts(queued, ports));
    for (const [position, each] of batch.entries()) {
      const isLeft = failed.includes(String(position));
      if (!isLeft) this.#proven.add(each.index);
      if (isLeft || this.#random() < 0.1) this.platform.receipts.push(each);
    }
  }
}

function indexesIn(body: string): number[] {
  const { slices } = JSON.parse(body) as QueuedChunk;
  return slices.flatMap(({ recipients }) => recipients.map(({ index }) => index));
}

test.each(firstUnlessThorough([1, 2, 3, 4]))(
  'chunks and receipts under faults, seed %i: none twice, none lost, none left unknown (D39)',
  async (seed) => {
    const table = await freshTable('messages');
    const plain = localDocumentClient();
    const dispatch = makeDispatch(makeRecipients(total), { ...scenarioHead, total });
    const dispatches = acceptedDispatchesStore(tableOf(plain, table, { nowMs: () => startMs }));
    await dispatches.store(dispatch, new AbortController().signal);
    await beginListed(dispatches, { ...dispatch, repeats: [] });
    const client = localDocumentClient();
    injectFaults(client, seededFaults(seed, 0.1, faults));
    // Reads that decide something must be strong, so eventually consistent ones lag here.
    lagReads(client);
    const world = new World(client, table, seed);
    await world.workers.pass(world.workOff());

    const { platform, told, calledThoughProven, left } = world;
    expect(calledThoughProven).toEqual([]);
    const nowMs = () => world.workers.time.nowMs;
    const reader = outcomesStore(tableOf(plain, table, { nowMs, pause: async () => undefined }));
    const states: string[] = [];
    for (let index = 0; index < total; index += 1) {
      const name = `${dispatchId}-${index}`;
      const { state, code } = await reader.ofMessage({ dispatchId, index });
      const taken = platform.taken.get(index) ?? [];
      expect(taken.filter((how) => how === 'taken').length, `${name} taken`).toBeLessThanOrEqual(1);
      if (taken.length > 0) {
        expect(state, name).toBe(index % 7 === 0 ? 'failed' : 'delivered');
        expect(told.has(`${name} message.failed`) || index % 7 !== 0, name).toBe(true);
        if (told.has(`${name} message.unknown`)) expect(told).toContain(`${name} message.resolved`);
      } else {
        expect(['failed', 'unknown'], name).toContain(state);
        if (state === 'unknown') expect(code === 'worker_lost' ? left : platform.lostBefore, name).toContain(index);
        expect(told).toContain(`${name} message.${state}`);
      }
      states.push(state);
    }
    expect(states.filter((state) => state === 'delivered').length).toBeGreaterThan(total / 2);
    expect([...told].some((line) => line.endsWith('message.resolved'))).toBe(true);
    expect([...platform.taken.values()].flat()).toContain('wrongly refused');
  },
);
