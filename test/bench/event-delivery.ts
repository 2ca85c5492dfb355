import { randomUUID } from 'node:crypto';
import { deliverBatch } from '../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../../lib/webhooks/delivery/deliver-ports.ts';
import { encodePending } from '../../lib/webhooks/delivery/pending.ts';
import { type Post, postPublic } from '../../lib/webhooks/delivery/post-network.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { DeliveryWorld, makeEvent } from '../support/delivery-world.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { report } from './figure.ts';

const answerMs = 50;
const storeMs = 5;
const events = 600;
/** Runs of the function at a time, of ten events each. */
const runs = 20;
/** Events a second to one receiver that are promised (D41). */
const promised = 100;
/** How many times slower than the direct posts delivery may be on a machine that cannot make what is promised. */
const slowerAtMost = 2;

/**
 * Events a second over TLS to receivers that answer in 50 ms, with stores and queue in memory that take what they take in a
 * region: to one receiver and to fifty. Beside them the same posts made directly, forty at a time: what the machine can do.
 * The limit for one receiver is red when it gets less than is promised, unless that is what the machine can do.
 */
export async function benchEventDelivery(): Promise<void> {
  const receiver = await startReceiver((response) => setTimeout(() => response.writeHead(204).end(), answerMs));
  const post = (each: Post) => postPublic({ ...each, url: receiver.url }, () => receiver.network);
  try {
    const direct = await postDirectly(post);
    const toOne = await deliver([1_001], post);
    const toFifty = await deliver(
      Array.from({ length: 50 }, (_, at) => 1_001 + at),
      post,
    );
    report({ figure: 'events.to_one_receiver', value: toOne, unit: 'events per second' });
    report({ figure: 'events.to_50_receivers', value: toFifty, unit: 'events per second' });
    const limit = Math.max(slowerAtMost, direct / promised);
    report({ figure: 'events.direct_to_one_receiver', value: direct / toOne, limit, unit: 'ratio' });
    report({ figure: 'events.direct_to_50_receivers', value: direct / toFifty, limit: 5, unit: 'ratio' });
  } finally {
    await receiver.close();
  }
}

async function postDirectly(post: (each: Post) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  let left = events;
  await Promise.all(
    Array.from({ length: 40 }, async () => {
      while (left-- > 0) await post({ url: '', headers: {}, body: JSON.stringify(makeEvent(1)), totalMs: 15_000 });
    }),
  );
  return events / ((performance.now() - startedMs) / 1_000);
}

async function deliver(clientIds: readonly number[], post: DeliverPorts['post']): Promise<number> {
  const world = new DeliveryWorld();
  for (const clientId of clientIds) world.subscribe(clientId);
  const queue = Array.from({ length: events }, (_, number): string => {
    const event: ServiceEvent = makeEvent(clientIds[number % clientIds.length] ?? 0, number);
    return encodeEvent(event);
  });
  const startedMs = performance.now();
  let delivered = 0;
  const plain = world.ports();
  const slow =
    <Args extends unknown[], Result>(ms: number, call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return await call(...args);
    };
  const ports: DeliverPorts = {
    ...plain,
    records: { record: slow(storeMs, plain.records.record) },
    receivers: { ...plain.receivers, find: slow(storeMs, plain.receivers.find) },
    states: { change: slow(2 * storeMs, plain.states.change) },
    queue: {
      sendLater: async (pending, seconds) => {
        setTimeout(() => queue.push(encodePending(pending)), seconds * 1_000);
      },
    },
    post: async (each) => {
      const answer = await post(each);
      if ('status' in answer && answer.status === 204) delivered += 1;
      return answer;
    },
    nowMs: Date.now,
    random: Math.random,
    newOwner: randomUUID,
  };
  await Promise.all(
    Array.from({ length: runs }, async () => {
      while (delivered < events) {
        const batch = queue.splice(0, 10).map((body, position) => ({ messageId: String(position), body }));
        if (batch.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
        else await deliverBatch(batch, ports);
      }
    }),
  );
  return events / ((performance.now() - startedMs) / 1_000);
}
