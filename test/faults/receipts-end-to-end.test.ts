import { expect, test } from 'vitest';
import type { Delivery, DispatchPorts } from '../../lib/messages/dispatch/breaker.ts';
import { type Claim, claimLifeMs, invocationOf } from '../../lib/messages/dispatch/claim.ts';
import { dispatchBatch } from '../../lib/messages/dispatch/dispatch.ts';
import { dispatchStore } from '../../lib/messages/dispatch/dispatch-store.ts';
import { jobStore } from '../../lib/messages/fan-out/job-store.ts';
import { outcomeOf } from '../../lib/messages/outcomes/outcome.ts';
import { doubtStore } from '../../lib/messages/receipts/doubt-store.ts';
import { fold } from '../../lib/messages/receipts/fold.ts';
import { receiptStore } from '../../lib/messages/receipts/receipt-store.ts';
import { recordReceipts } from '../../lib/messages/receipts/record-receipts.ts';
import { reportedOutcome } from '../../lib/messages/receipts/reported-state.ts';
import { PlatformFailure } from '../../lib/platform/failure.ts';
import { defaultEventTypes, type EventSink } from '../../lib/webhooks/event.ts';
import { type Fault, injectFaults, seededFaults, seededRandom } from '../support/faults.ts';
import { idlePaces } from '../support/idle-paces.ts';
import { lagReads } from '../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';
import { firstUnlessThorough } from '../support/thorough.ts';
import { dispatchMessage, receiptBody, scenarioHead, startMs } from '../support/scenario-job.ts';

const total = 80;
const faults: readonly Fault[] = [
  { kind: 'fail_before' },
  { kind: 'lose_reply' },
  { kind: 'throttle' },
  { kind: 'partial_batch', count: 1 },
];

/** A platform that misbehaves as the seed says, also against its documentation, and tells of what it took: late and doubled. */
class Platform {
  readonly taken = new Map<number, string[]>();
  readonly lostBefore = new Set<number>();
  /** Receipts that are still to come, by message. */
  receipts: { readonly index: number; readonly body: string }[] = [];
  readonly proven = new Set<number>();
  sentThoughProven = 0;
  private readonly random: () => number;

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  readonly send: DispatchPorts['send'] = async ({ index }) => {
    if (this.proven.has(index)) this.sentThoughProven += 1;
    const fate = this.random();
    if (fate < 0.06) throw new PlatformFailure('refused', { code: 130429 });
    if (fate < 0.1) throw new PlatformFailure('not_sent');
    if (fate < 0.14) throw new PlatformFailure('refused', { code: 131026 });
    if (fate < 0.18) {
      this.lostBefore.add(index);
      throw new PlatformFailure('ambiguous');
    }
    this.take(index, fate < 0.3 ? 'wrongly refused' : 'taken');
    if (fate < 0.3) throw new PlatformFailure('refused', { code: 130429 });
    if (fate < 0.4) throw new PlatformFailure('ambiguous');
    const platformMessageId = `platform-${index}`;
    return fate < 0.46 ? { platformMessageId, messageStatus: 'paused' } : { platformMessageId };
  };

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

test.each(firstUnlessThorough([1, 2, 3, 4]))(
  'dispatch and receipts under faults, seed %i: none twice, none lost, none left unknown (D39)',
  async (seed) => {
    const table = await freshTable('messages');
    const client = localDocumentClient();
    injectFaults(client, seededFaults(seed, 0.05, faults));
    // Whatever decides is read strongly.
    lagReads(client);
    let nowMs = startMs;
    const platform = new Platform(seed);
    const random = seededRandom(seed + 100);
    const told = new Map<string, string>();
    const events: EventSink = {
      send: async (batch) => {
        if (random() < 0.1) throw new Error('the event queue takes nothing');
        for (const { id, type, data } of batch)
          told.set(id, 'message_id' in data ? `${data.message_id} ${type}` : type);
      },
    };
    await jobStore(localDocumentClient(), table).begin({ ...scenarioHead, total }, 1);
    const store = dispatchStore({ client, table, nowMs: () => nowMs });
    const records = receiptStore({ client, table, pause: async () => undefined });
    let waiting = Array.from({ length: total }, (_, index) => JSON.stringify(dispatchMessage(index)));

    for (let round = 0; waiting.length > 0 || platform.receipts.length > 0; round += 1) {
      if (round > 40) throw new Error(`${waiting.length} messages do not come to rest`);
      const bodies = waiting;
      waiting = [];
      for (let first = 0; first < bodies.length; first += 10) {
        const batch = bodies.slice(first, first + 10).map((body, position) => delivery(body, String(position)));
        const dispatched = dispatchBatch(batch, {
          claims: store,
          doubts: doubtStore(client, table),
          ...idlePaces,
          events,
          queue: {
            sendLater: async (copy) => void waiting.push(JSON.stringify(copy)),
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
        // A run of receipts works beside it.
        await Promise.all([dispatched, count()]);
        const failed = await dispatched;
        waiting.push(
          ...batch.filter(({ messageId }) => failed.includes(messageId) || random() < 0.1).map(({ body }) => body),
        );
      }
      await count();
      nowMs += claimLifeMs;
    }

    async function count(): Promise<void> {
      const batch = platform.some();
      const queued = batch.map(({ body }, position) => ({ messageId: String(position), body }));
      const failed = await recordReceipts(queued, {
        records,
        claims: { ...records, take: store.take },
        wanted: async () => defaultEventTypes,
        events,
        nowMs: () => nowMs,
        remainingMs: () => 60_000,
        log: () => undefined,
      });
      const again = batch.filter((_, position) => failed.includes(String(position)) || random() < 0.1);
      for (const { index } of failed.length === 0 ? batch : []) platform.proven.add(index);
      platform.receipts.push(...again);
    }

    expect(platform.sentThoughProven).toBe(0);
    const reader = receiptStore({ client: localDocumentClient(), table, pause: async () => undefined });
    const keys = Array.from({ length: total }, (_, index) => ({ jobId: scenarioHead.jobId, index }));
    const claims = await reader.findClaims(keys);
    const batches = await reader.findBatchRecords([...new Set([...claims.values()].map(({ at }) => invocationOf(at)))]);
    const receipts = Map.groupBy(await reader.ofGroup(scenarioHead.jobId, 0), ({ index }) => index);
    const says = new Set([...told.values()]);
    const states = keys.map((key) => {
      const claim = claims.get(`J-${key.index}`) as Claim;
      const own = outcomeOf(key, { claim, batch: batches.get(invocationOf(claim.at)) }, nowMs);
      const { state } = reportedOutcome(own, fold(receipts.get(key.index) ?? []));
      const taken = platform.taken.get(key.index) ?? [];
      expect(taken.filter((how) => how === 'taken').length, `J-${key.index} taken`).toBeLessThanOrEqual(1);
      if (taken.length > 0) {
        expect(state, `J-${key.index}`).toBe(key.index % 7 === 0 ? 'failed' : 'delivered');
        expect(own.state, `J-${key.index}`).not.toBe('unknown');
        expect(says.has(`J-${key.index} message.failed`) || key.index % 7 !== 0).toBe(true);
        if (says.has(`J-${key.index} message.unknown`)) expect(says).toContain(`J-${key.index} message.resolved`);
      } else {
        expect(['failed', 'unknown'], `J-${key.index}`).toContain(state);
        if (state === 'unknown') expect(platform.lostBefore).toContain(key.index);
        expect(says).toContain(`J-${key.index} message.${state}`);
      }
      return state;
    });
    expect(told.size).toBe(says.size);
    expect(states.filter((state) => state === 'delivered').length).toBeGreaterThan(total / 2);
    expect([...says].some((line) => line.endsWith('message.resolved'))).toBe(true);
    expect([...platform.taken.values()].flat()).toContain('wrongly refused');
  },
);

function delivery(body: string, messageId: string): Delivery {
  return { messageId, receiptHandle: '', body };
}
