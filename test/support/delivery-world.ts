import { randomUUID } from 'node:crypto';
import * as v from 'valibot';
import type { LogFacts } from '../../lib/observe/log.ts';
import { deliverBatch } from '../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts, Receiver, SwitchOffReason } from '../../lib/webhooks/delivery/deliver-ports.ts';
import { type DeliveryState, DeliveryStateSchema } from '../../lib/webhooks/delivery/delivery-state.ts';
import { encodeWake, type Pending } from '../../lib/webhooks/delivery/pending.ts';
import type { Post } from '../../lib/webhooks/delivery/post-network.ts';
import type { PostAnswer } from '../../lib/webhooks/delivery/post-result.ts';
import { defaultEventTypes, eventId, type ServiceEvent } from '../../lib/webhooks/event.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { MemoryBacklog } from './memory-backlog.ts';

interface Message {
  readonly messageId: string;
  readonly body: string;
  readonly visibleAtMs: number;
}

export const firstSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

export function makeEvent(clientId: number, number = 0): Extract<ServiceEvent, { type: 'template.created' }> {
  return {
    id: eventId('template.created', clientId, [number]),
    clientId,
    type: 'template.created',
    timestampMs: 1_800_000_000_000,
    data: {
      template_id: 'document',
      waba_id: '200000000000001',
      platform_template_id: '1',
      name: `template_${number}`,
      language: 'en_US',
      status: 'APPROVED',
      category: 'MARKETING',
    },
  };
}

/** The delivery policy has its ports in memory, with a queue and a clock that only the test moves. */
export class DeliveryWorld {
  nowMs = 1_800_000_000_000;
  random = 0.5;
  /** The receiver answers at once or later. */
  answer: (post: Post) => PostAnswer | Promise<PostAnswer> = () => ({ status: 200 });
  readonly receivers = new Map<number, Receiver & { active: boolean }>();
  readonly states = new Map<number, DeliveryState>();
  readonly recorded = new Map<string, ServiceEvent>();
  readonly posts: (Post & { readonly atMs: number })[] = [];
  readonly logged: { readonly event: string; readonly facts: LogFacts }[] = [];
  batches = 0;
  wakes = 0;
  readonly #list: MemoryBacklog;
  #messages: Message[] = [];
  #sent = 0;

  constructor({ pageItems = 5 }: { readonly pageItems?: number } = {}) {
    this.#list = new MemoryBacklog(pageItems);
  }

  subscribe(clientId: number, secrets: readonly string[] = [firstSecret]): void {
    const url = `https://example.com/${clientId}`;
    this.receivers.set(clientId, { url, version: 1, wanted: defaultEventTypes, secrets, active: true });
  }

  enqueue(...events: readonly ServiceEvent[]): void {
    for (const event of events) this.#add(encodeEvent(event), 0);
  }

  /** Returns the lists of all clients, in the order of their keys. */
  get waiting(): readonly Pending[] {
    return this.#list.all;
  }

  /** Returns the messages in the queue, wake messages too. */
  get queued(): readonly { readonly body: Record<string, unknown>; readonly inMs: number }[] {
    return this.#messages.map(({ body, visibleAtMs }) => ({ body: JSON.parse(body), inMs: visibleAtMs - this.nowMs }));
  }

  /** Tells that no client has anything left to deliver. */
  get isAtRest(): boolean {
    return this.waiting.length === 0 && this.#messages.length === 0;
  }

  async wait(...waiting: readonly Pending[]): Promise<void> {
    for (const pending of waiting) await this.#list.put(pending);
  }

  postsTo(clientId: number) {
    return this.posts.filter(({ url }) => url.endsWith(`/${clientId}`));
  }

  logs(event: string): readonly LogFacts[] {
    return this.logged.filter((line) => line.event === event).map(({ facts }) => facts);
  }

  /** Gives the visible messages to the policy, ten at a time in the order of the queue, until none is visible. */
  async run(changes: Partial<DeliverPorts> = {}): Promise<void> {
    for (;;) {
      const batch = this.#messages.filter(({ visibleAtMs }) => visibleAtMs <= this.nowMs).slice(0, 10);
      if (batch.length === 0) return;
      this.batches += 1;
      const again = new Set(await deliverBatch(batch, this.ports(changes)));
      const taken = new Set(batch);
      // A reported message becomes visible again after its visibility timeout.
      const returned = batch.filter(({ messageId }) => again.has(messageId));
      this.#messages = [
        ...this.#messages.filter((message) => !taken.has(message)),
        ...returned.map((message) => ({ ...message, visibleAtMs: this.nowMs + 360_000 })),
      ];
    }
  }

  /** Moves the time from one visible message to the next. */
  async runUntil(endMs: number): Promise<void> {
    for (;;) {
      await this.run();
      const next = Math.min(...this.#messages.map(({ visibleAtMs }) => visibleAtMs));
      if (next > endMs) break;
      this.nowMs = Math.max(this.nowMs, next);
    }
    this.nowMs = Math.max(this.nowMs, endMs);
  }

  ports(changes: Partial<DeliverPorts> = {}): DeliverPorts {
    return {
      records: {
        record: async (event) => void this.recorded.set(event.id, event),
      },
      receivers: {
        find: async (clientId) => {
          const receiver = this.receivers.get(clientId);
          return receiver?.active ? receiver : undefined;
        },
        switchOff: async (clientId, version, reason) => this.#switchOff(clientId, version, reason),
      },
      states: {
        change: async (clientId, decide) => {
          const state = this.states.get(clientId) ?? v.parse(DeliveryStateSchema, {});
          const next = decide(state);
          if (next === undefined) return { changed: false, state };
          this.states.set(clientId, next);
          return { changed: true, state: next };
        },
      },
      list: {
        put: async (pending) => {
          await this.#list.put(pending);
        },
        remove: async (pending) => {
          await this.#list.remove(pending);
        },
        pages: (clientId) => this.#list.pages(clientId),
      },
      queue: {
        sendLater: async (clientId, delaySeconds) => {
          this.wakes += 1;
          this.#add(encodeWake(clientId), delaySeconds);
        },
      },
      post: async (post) => {
        this.posts.push({ ...post, atMs: this.nowMs });
        return await this.answer(post);
      },
      newOwner: randomUUID,
      nowMs: () => this.nowMs,
      remainingMs: () => 60_000,
      random: () => this.random,
      log: (event, facts) => void this.logged.push({ event, facts }),
      ...changes,
    };
  }

  #switchOff(clientId: number, version: number, _reason: SwitchOffReason): boolean {
    const receiver = this.receivers.get(clientId);
    if (receiver?.version !== version || !receiver.active) return false;
    receiver.active = false;
    return true;
  }

  #add(body: string, delaySeconds: number): void {
    this.#sent += 1;
    const visibleAtMs = this.nowMs + delaySeconds * 1_000;
    this.#messages.push({ messageId: `message ${this.#sent}`, body, visibleAtMs });
  }
}
