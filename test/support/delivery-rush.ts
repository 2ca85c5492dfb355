import * as v from 'valibot';
import { deliverBatch } from '../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../../lib/webhooks/delivery/deliver-ports.ts';
import { DeliveryStateSchema } from '../../lib/webhooks/delivery/delivery-state.ts';
import { encodeWake } from '../../lib/webhooks/delivery/pending.ts';
import type { PostAnswer } from '../../lib/webhooks/delivery/post-result.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { DeliveryWorld, makeEvent } from './delivery-world.ts';
import { VirtualTime } from './virtual-time.ts';

const runs = 20;
const batchSize = 10;
const invocationMs = 15;
const storeMs = 5;
const queueMs = 10;
const visibilityMs = 360_000;

interface Message {
  readonly id: string;
  readonly clientId: number;
  readonly body: string;
  readonly sent: number;
}

export interface RushOptions {
  /**
   * A fair queue prefers the client with the fewest messages in flight, as SQS does; otherwise the queue is first in,
   * first out.
   */
  readonly isFair: boolean;
}

/**
 * The deployed delivery of events has at most twenty runs with ten messages each, here in virtual time with a region's
 * latencies. Simultaneous changes of one state conflict as in the store. Requests are counted.
 */
export class DeliveryRush {
  readonly world = new DeliveryWorld({ pageItems: 50 });
  readonly time = new VirtualTime(this.world.nowMs);
  answerMs = (_clientId: number) => 50;
  answer = (_clientId: number): PostAnswer => ({ status: 200 });
  /** The keys are ids of events. */
  readonly delivered = new Map<string, number>();
  readonly mostPosts = new Map<number, number>();
  /** These requests send, receive and delete, each ten messages where they go together. */
  queueRequests = 0;
  wakes = 0;
  readonly #isFair: boolean;
  readonly #posts = new Map<number, number>();
  readonly #underWay = new Map<number, number>();
  readonly #visible = new Map<number, Message[]>();
  #sent = 0;
  #owners = 0;
  #seed = 1;
  #arrived = Promise.withResolvers<void>();

  constructor({ isFair }: RushOptions, ...clientIds: readonly number[]) {
    this.#isFair = isFair;
    for (const clientId of clientIds) this.world.subscribe(clientId);
  }

  /** Queues ten events with each request. */
  enqueue(clientId: number, count: number, first = 0): void {
    this.queueRequests += Math.ceil(count / batchSize);
    for (let number = first; number < first + count; number++) {
      this.#send(clientId, encodeEvent(makeEvent(clientId, number)), 0);
    }
  }

  get elapsedSeconds(): number {
    return (this.time.nowMs - this.world.nowMs) / 1_000;
  }

  deliveredAtMs(clientId: number, number: number): number | undefined {
    return this.delivered.get(makeEvent(clientId, number).id);
  }

  /** Starts runs until `isOver` is true; runs in progress then end. */
  async run(isOver: () => boolean): Promise<void> {
    const ports = this.#ports();
    for (let run = 0; run < runs; run++) void this.#work(ports, isOver);
    await this.time.pass(isOver);
  }

  async #work(ports: DeliverPorts, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const batch = this.#take();
      if (batch.length === 0) {
        await this.#arrived.promise;
        continue;
      }
      this.queueRequests += 1;
      await this.time.sleep(invocationMs);
      const deliveries = batch.map(({ id, body }) => ({ messageId: id, body }));
      const again = new Set(await deliverBatch(deliveries, ports));
      if (again.size < batch.length) this.queueRequests += 1;
      for (const message of batch) {
        this.#count(this.#underWay, message.clientId, -1);
        if (again.has(message.id)) void this.time.sleep(visibilityMs).then(() => this.#show(message));
      }
    }
  }

  #take(): Message[] {
    const batch: Message[] = [];
    while (batch.length < batchSize) {
      const heads = [...this.#visible.values()].flatMap((messages) => messages[0] ?? []);
      const weightOf = ({ clientId, sent }: Message) => (this.#isFair ? (this.#underWay.get(clientId) ?? 0) : sent);
      const [next] = heads.sort((one, other) => weightOf(one) - weightOf(other) || one.sent - other.sent);
      if (next === undefined) return batch;
      this.#visible.get(next.clientId)?.shift();
      this.#count(this.#underWay, next.clientId, 1);
      batch.push(next);
    }
    return batch;
  }

  #count(counts: Map<number, number>, clientId: number, by: number): number {
    const count = (counts.get(clientId) ?? 0) + by;
    counts.set(clientId, count);
    return count;
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
    const { list } = plain;
    return {
      ...plain,
      records: { record: after(storeMs, plain.records.record) },
      receivers: { ...plain.receivers, find: after(storeMs, plain.receivers.find) },
      states: { change },
      list: {
        put: after(storeMs, list.put),
        remove: after(storeMs, list.remove),
        pages: async function* (clientId) {
          const pages = list.pages(clientId)[Symbol.asyncIterator]();
          for (;;) {
            await time.sleep(2 * storeMs);
            const page = await pages.next();
            if (page.done) return;
            yield page.value;
          }
        },
      },
      queue: {
        sendLater: after(queueMs, async (clientId: number, delaySeconds) => {
          this.queueRequests += 1;
          this.wakes += 1;
          this.#send(clientId, encodeWake(clientId), delaySeconds);
        }),
      },
      newOwner: () => `run ${this.#owners++}`,
      post: async (post) => {
        const clientId = Number(post.url.split('/').at(-1));
        const posts = this.#count(this.#posts, clientId, 1);
        this.mostPosts.set(clientId, Math.max(posts, this.mostPosts.get(clientId) ?? 0));
        await time.sleep(this.answerMs(clientId));
        this.#count(this.#posts, clientId, -1);
        const answer = this.answer(clientId);
        const id = post.headers['webhook-id'] ?? '';
        if ('status' in answer && answer.status === 200 && !this.delivered.has(id)) this.delivered.set(id, time.nowMs);
        return answer;
      },
      nowMs: () => time.nowMs,
      random,
      log: () => undefined,
    };
  }

  #send(clientId: number, body: string, delaySeconds: number): void {
    this.#sent += 1;
    const message = { id: `message ${this.#sent}`, clientId, body, sent: this.#sent };
    if (delaySeconds === 0) this.#show(message);
    else void this.time.sleep(delaySeconds * 1_000).then(() => this.#show(message));
  }

  #show(message: Message): void {
    const messages = this.#visible.get(message.clientId) ?? [];
    messages.push(message);
    this.#visible.set(message.clientId, messages);
    this.#arrived.resolve();
    this.#arrived = Promise.withResolvers();
  }
}
