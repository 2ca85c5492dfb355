import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../../../../lib/webhooks/delivery/deliver-ports.ts';
import { DeliveryStateSchema } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { encodePending } from '../../../../lib/webhooks/delivery/pending.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { DeliveryWorld, makeEvent } from '../../../support/delivery-world.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

/*
 * The function as it is deployed, twenty runs at most with ten messages each, over a queue that is fair to nobody: the
 * oldest visible message comes first. Time is virtual, each step takes what it takes in a region of its own, and changes of
 * one state at the same time meet as they do in the store.
 */
const runs = 20;
const batchSize = 10;
const invocationMs = 15;
const storeMs = 5;
const queueMs = 10;

const busy = 1001;
const quiet = 1002;

class Rush {
  readonly world = new DeliveryWorld();
  readonly time = new VirtualTime(this.world.nowMs);
  /** How long a receiver takes to answer. */
  answerMs = (_clientId: number) => 50;
  readonly delivered = new Set<string>();
  /** Posts under way at once, at most, by client. */
  readonly mostPosts = new Map<number, number>();
  /** Events that found no place and went back to the queue. */
  putBacks = 0;
  readonly #posts = new Map<number, number>();
  #visible: string[] = [];
  #taken = 0;
  #seed = 1;

  constructor(...clientIds: readonly number[]) {
    for (const clientId of clientIds) this.world.subscribe(clientId);
  }

  enqueue(clientId: number, count: number, first = 0): void {
    for (let number = first; number < first + count; number++) this.#send(encodeEvent(makeEvent(clientId, number)), 0);
  }

  get elapsedSeconds(): number {
    return (this.time.nowMs - this.world.nowMs) / 1_000;
  }

  async run(isOver: () => boolean): Promise<void> {
    const ports = this.#ports();
    for (let run = 0; run < runs; run++) void this.#work(ports, isOver);
    await this.time.pass(isOver);
  }

  async #work(ports: DeliverPorts, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const bodies = this.#visible.slice(this.#taken, this.#taken + batchSize);
      this.#taken += bodies.length;
      await this.time.sleep(invocationMs);
      const batch = bodies.map((body, position) => ({ messageId: String(position), body }));
      if (batch.length > 0) expect(await deliverBatch(batch, ports)).toEqual([]);
    }
  }

  #ports(): DeliverPorts {
    const { world, time } = this;
    const plain = world.ports();
    const after =
      <Args extends unknown[], Result>(ms: number, call: (...args: Args) => Promise<Result>) =>
      async (...args: Args): Promise<Result> => {
        await time.sleep(ms);
        return await call(...args);
      };
    const random = () => {
      this.#seed = (this.#seed * 48_271) % 2_147_483_647;
      return this.#seed / 2_147_483_647;
    };
    const change: DeliverPorts['states']['change'] = async (clientId, decide) => {
      for (let attempt = 0; attempt < 10; attempt++) {
        if (attempt > 0) await time.sleep(random() * Math.min(200, 10 * 2 ** (attempt - 1)));
        await time.sleep(storeMs);
        const read = world.states.get(clientId);
        const state = read ?? v.parse(DeliveryStateSchema, {});
        const next = decide(state);
        if (next === undefined) return { changed: false, state };
        await time.sleep(storeMs);
        if (world.states.get(clientId) !== read) continue;
        world.states.set(clientId, next);
        return { changed: true, state: next };
      }
      throw new Error('the state will not hold still');
    };
    return {
      ...plain,
      records: { record: after(storeMs, plain.records.record) },
      receivers: { ...plain.receivers, find: after(storeMs, plain.receivers.find) },
      states: { change },
      queue: {
        sendLater: after(queueMs, async (pending, delaySeconds) => {
          this.putBacks += 1;
          this.#send(encodePending(pending), delaySeconds);
        }),
      },
      post: async (post) => {
        const clientId = Number(post.url.split('/').at(-1));
        const posts = (this.#posts.get(clientId) ?? 0) + 1;
        this.#posts.set(clientId, posts);
        this.mostPosts.set(clientId, Math.max(posts, this.mostPosts.get(clientId) ?? 0));
        await time.sleep(this.answerMs(clientId));
        this.#posts.set(clientId, (this.#posts.get(clientId) ?? 0) - 1);
        this.delivered.add(post.headers['webhook-id'] ?? '');
        return { status: 200 };
      },
      nowMs: () => time.nowMs,
      random,
      log: () => undefined,
    };
  }

  #send(body: string, delaySeconds: number): void {
    if (delaySeconds === 0) return void this.#visible.push(body);
    void this.time.sleep(delaySeconds * 1_000).then(() => this.#visible.push(body));
  }
}

const idOf = (clientId: number, number: number) => makeEvent(clientId, number).id;

describe('a receiver that answers in 50 ms (D34)', () => {
  test.each([300, 600, 3_000])('gets at least 100 of %i events a second, its waits included', async (count) => {
    const rush = new Rush(busy);
    rush.enqueue(busy, count);
    await rush.run(() => rush.delivered.size === count);
    expect(rush.delivered.size / rush.elapsedSeconds).toBeGreaterThan(100);
    // The twenty runs take some seven times what the receiver takes: an event comes by that often.
    expect(rush.putBacks / count).toBeLessThan(8);
  });

  test('has no more than 40 posts under way', async () => {
    const rush = new Rush(busy);
    rush.enqueue(busy, 1_000);
    await rush.run(() => rush.delivered.size >= 500);
    expect([...rush.mostPosts.values()]).toEqual([40]);
  });
});

describe('30,000 events of one client', () => {
  test.each([
    ['answers in 50 ms', 50, 10],
    ['takes 10 s to answer', 10_000, 40],
  ])('whose receiver %s do not hold up an event of another', async (_, answerMs, withinSeconds) => {
    const rush = new Rush(busy, quiet);
    rush.answerMs = (clientId) => (clientId === busy ? answerMs : 50);
    rush.enqueue(busy, 30_000);
    rush.enqueue(quiet, 1);
    await rush.run(() => rush.delivered.has(idOf(quiet, 0)));
    // Behind every one of them, in a queue that is fair to nobody: what it waits is what putting them back takes.
    expect(rush.elapsedSeconds).toBeLessThan(withinSeconds);
  });

  test('leave most runs of the function to the others while their receiver is slow', async () => {
    const rush = new Rush(busy);
    rush.answerMs = () => 10_000;
    rush.enqueue(busy, 1_000);
    await rush.run(() => rush.elapsedSeconds > 60);
    expect(rush.mostPosts.get(busy)).toBeLessThanOrEqual(20);
  });
});

describe('a receiver that stops answering in the middle of a rush', () => {
  test('is fast no longer: its events wait for seconds, and another client is served at once', async () => {
    const rush = new Rush(busy, quiet);
    rush.enqueue(busy, 2_000);
    await rush.run(() => rush.delivered.size >= 600);
    rush.answerMs = (clientId) => (clientId === busy ? 15_000 : 50);
    const diedAtSeconds = rush.elapsedSeconds;
    await rush.run(() => rush.elapsedSeconds > diedAtSeconds + 3);
    const putBacks = rush.putBacks;
    rush.enqueue(quiet, 1);
    await rush.run(() => rush.delivered.has(idOf(quiet, 0)));
    expect(rush.elapsedSeconds - diedAtSeconds).toBeLessThan(4);
    await rush.run(() => rush.elapsedSeconds > diedAtSeconds + 13);
    // Each of the 1,400 comes by every 4 s, as beside any receiver that is slow; 35,000 would if they came back at once.
    expect(rush.putBacks - putBacks).toBeLessThan(5_000);
    expect(rush.mostPosts.get(busy)).toBeLessThanOrEqual(40);
  });
});
