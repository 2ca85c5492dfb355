import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { addressStore } from '../../lib/messages/receipts/address-store.ts';
import { fold } from '../../lib/messages/receipts/fold.ts';
import { provenSlicesStore } from '../../lib/messages/receipts/proven-slices-store.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { type OwnOutcome, reportedOutcome } from '../../lib/messages/receipts/reported-state.ts';
import { runReceipts } from '../../lib/messages/receipts/run-receipts.ts';
import { sliceDoubtsStore } from '../../lib/messages/receipts/slice-doubts-store.ts';
import { type Chunk, type ChunkPorts, type ChunkRecipient, runChunk } from '../../lib/messages/slices/run-chunk.ts';
import { type Outcome, placeInSlice, sliceOf, sliceSize } from '../../lib/messages/slices/slice.ts';
import { sliceStore } from '../../lib/messages/slices/slice-store.ts';
import { defaultEventTypes } from '../../lib/webhooks/event.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../support/faults.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { firstUnlessThorough } from '../support/thorough.ts';
import { receiptBody, scenarioHead, startMs } from '../support/scenario-job.ts';

const total = 80;
const claimLifeMs = 90_000;
const { jobId } = scenarioHead;
const faults: readonly Fault[] = [
  { kind: 'fail_before' },
  { kind: 'lose_reply' },
  { kind: 'throttle' },
  { kind: 'partial_batch', count: 1 },
];
const unknown: Outcome = { state: 'unknown', code: 'no_answer' };

/** A platform that misbehaves as the seed says, also against its documentation, and tells of what it took: late and doubled. */
class Platform {
  readonly taken = new Map<number, string[]>();
  readonly lostBefore = new Set<number>();
  /** Receipts that are still to come. */
  receipts: { readonly index: number; readonly body: string }[] = [];
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  call(index: number, nowMs: number): Outcome {
    const fate = this.random();
    if (fate < 0.1) return { state: 'again', dueMs: nowMs };
    if (fate < 0.14) return { state: 'failed', code: '131026' };
    if (fate < 0.18) {
      this.lostBefore.add(index);
      return unknown;
    }
    this.take(index, fate < 0.3 ? 'wrongly refused' : 'taken');
    if (fate < 0.3) return { state: 'again', dueMs: nowMs };
    return fate < 0.4 ? unknown : { state: 'sent', platformMessageId: `platform-${index}` };
  }

  private take(index: number, how: string): void {
    this.taken.set(index, [...(this.taken.get(index) ?? []), how]);
    const last = index % 7 === 0 ? 'failed' : 'delivered';
    const bodies = ['sent', last, last].map((status) => ({ index, body: receiptBody(index, status) }));
    // Some at once, most later, in any order.
    this.receipts = [...this.receipts, ...bodies].sort(() => this.random() - 0.5);
  }

  some(): { readonly index: number; readonly body: string }[] {
    return this.receipts.splice(0, Math.ceil(this.receipts.length * this.random()));
  }
}

/** A job on the real stores, workers that die, and runs of receipts beside them. */
class World {
  readonly platform: Platform;
  readonly told = new Set<string>();
  /** Of whom receipts had been recorded before the slice was claimed, and who was called nevertheless. */
  readonly calledThoughProven: number[] = [];
  waiting: Chunk<ChunkRecipient>[] = [];
  private nowMs = startMs;
  private readonly proven = new Set<number>();
  private readonly random: () => number;
  private readonly client: DynamoDBDocumentClient;
  private readonly table: string;
  private readonly slices: ReturnType<typeof sliceStore>;

  constructor(client: DynamoDBDocumentClient, table: string, seed: number) {
    [this.client, this.table] = [client, table];
    this.platform = new Platform(seed);
    this.random = seededRandom(seed + 100);
    this.slices = sliceStore({ client, table, nowMs: () => this.nowMs });
    const sliceAt = (first: number) => ({
      try: 0,
      size: sliceSize,
      recipients: Array.from({ length: sliceSize }, (_, place) => ({ index: first + place })),
    });
    for (let first = 0; first < total; first += 2 * sliceSize) {
      this.waiting.push({ jobId, slices: [sliceAt(first), sliceAt(first + sliceSize)] });
    }
  }

  async workOff(): Promise<void> {
    for (let round = 0; this.waiting.length > 0 || this.platform.receipts.length > 0; round += 1) {
      if (round > 60) throw new Error(`${this.waiting.length} chunks do not come to rest`);
      const chunks = this.waiting;
      this.waiting = [];
      for (const [place, chunk] of chunks.entries()) {
        // A run of receipts works beside it.
        const [end] = await Promise.all([runChunk(chunk, `run-${round}-${place}`, this.ports()), this.record()]);
        if (end.kind === 'again' || this.random() < 0.1) this.waiting.push(chunk);
      }
      await this.record();
      this.nowMs += claimLifeMs;
    }
  }

  private ports(): ChunkPorts<ChunkRecipient> {
    const doubts = sliceDoubtsStore(this.client, this.table);
    const dies = this.random() < 0.15;
    const known = new Map<number, ReadonlySet<number>>();
    return {
      slices: {
        ...this.slices,
        claim: async (claim) => {
          known.set(claim.key.slice, new Set(this.proven));
          return await this.slices.claim(claim);
        },
        end: async (own, outcomes) => {
          if (dies) throw new Error('killed');
          return await this.slices.end(own, outcomes);
        },
      },
      look: async (claim) => ({
        heldBack: undefined,
        proven: claim.try === 0 ? new Set() : await doubts.proven(claim.key),
      }),
      markDoubt: () => doubts.mark(scenarioHead),
      proven: ({ key }) => doubts.proven(key),
      call: async ({ index }) => {
        if (known.get(sliceOf({ jobId, index }).slice)?.has(index)) this.calledThoughProven.push(index);
        return this.platform.call(index, this.nowMs);
      },
      tell: async (endings) => {
        if (this.random() < 0.1) throw new Error('the event queue takes nothing');
        for (const { recipient, outcome } of endings) {
          const kind = outcome.resolvedAtMs === undefined ? outcome.state : 'resolved';
          if (kind !== 'sent') this.told.add(`${jobId}-${recipient.index} message.${kind}`);
        }
      },
      queueAgain: async (chunk) => void this.waiting.push(chunk),
      nowMs: () => this.nowMs,
      mayRepeat: async (times) => times < 3,
      claimLifeMs,
      retryMs: () => this.nowMs,
    };
  }

  private async record(): Promise<void> {
    const batch = this.platform.some();
    const access = { documentClient: this.client, tableName: this.table, pause: async () => undefined };
    const failed = await runReceipts(
      batch.map(({ body }, position) => ({ messageId: String(position), body })),
      {
        records: receiptStore({ client: this.client, table: this.table, pause: access.pause }),
        slices: provenSlicesStore(access, () => this.nowMs),
        addressesOf: addressStore(access),
        wanted: async () => defaultEventTypes,
        events: {
          send: async (events) => {
            if (this.random() < 0.1) throw new Error('the event queue takes nothing');
            for (const { type, data } of events) if ('message_id' in data) this.told.add(`${data.message_id} ${type}`);
          },
        },
        nowMs: () => this.nowMs,
        remainingMs: () => 60_000,
        log: () => undefined,
      },
    );
    for (const [position, each] of batch.entries()) {
      const isLeft = failed.includes(String(position));
      if (!isLeft) this.proven.add(each.index);
      if (isLeft || this.random() < 0.1) this.platform.receipts.push(each);
    }
  }
}

test.each(firstUnlessThorough([1, 2, 3, 4]))(
  'slices and receipts under faults, seed %i: none twice, none lost, none left unknown (D39)',
  async (seed) => {
    const table = await freshTable('messages');
    const client = localDocumentClient();
    injectFaults(client, seededFaults(seed, 0.05, faults));
    // Whatever decides is read strongly.
    lagReads(client);
    await jobStore(localDocumentClient(), table).begin({ ...scenarioHead, total }, 1);
    const world = new World(client, table, seed);
    await world.workOff();

    const { platform, told, calledThoughProven } = world;
    expect(calledThoughProven).toEqual([]);
    const reader = sliceStore({ client: localDocumentClient(), table, nowMs: () => startMs });
    const records = receiptStore({ client: localDocumentClient(), table, pause: async () => undefined });
    const receipts = Map.groupBy(await records.ofGroup(jobId, 0), ({ index }) => index);
    const states: string[] = [];
    for (let index = 0; index < total; index += 1) {
      const name = `${jobId}-${index}`;
      const outcome = (await reader.find(sliceOf({ jobId, index })))?.outcomes[placeInSlice(index)];
      const { state } = reportedOutcome(outcome as OwnOutcome, fold(receipts.get(index) ?? []));
      const taken = platform.taken.get(index) ?? [];
      expect(taken.filter((how) => how === 'taken').length, `${name} taken`).toBeLessThanOrEqual(1);
      if (taken.length > 0) {
        expect(state, name).toBe(index % 7 === 0 ? 'failed' : 'delivered');
        expect(outcome?.state, name).not.toBe('unknown');
        expect(told.has(`${name} message.failed`) || index % 7 !== 0).toBe(true);
        if (told.has(`${name} message.unknown`)) expect(told).toContain(`${name} message.resolved`);
      } else {
        expect(['failed', 'unknown'], name).toContain(state);
        const isLost = outcome?.state === 'unknown' && outcome.code === 'worker_lost';
        if (state === 'unknown' && !isLost) expect(platform.lostBefore).toContain(index);
        expect(told).toContain(`${name} message.${state}`);
      }
      states.push(state);
    }
    expect(states.filter((state) => state === 'delivered').length).toBeGreaterThan(total / 2);
    expect([...told].some((line) => line.endsWith('message.resolved'))).toBe(true);
    expect([...platform.taken.values()].flat()).toContain('wrongly refused');
  },
);
