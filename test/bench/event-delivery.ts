import { randomUUID } from 'node:crypto';
import { deliverBatch } from '../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts } from '../../lib/webhooks/delivery/deliver-ports.ts';
import { encodeWake } from '../../lib/webhooks/delivery/pending.ts';
import { type Post, postPublic } from '../../lib/webhooks/delivery/post-network.ts';
import type { ServiceEvent } from '../../lib/webhooks/event.ts';
import { encodeEvent } from '../../lib/webhooks/event-queue.ts';
import { DeliveryRush } from '../support/delivery-rush.ts';
import { DeliveryWorld, makeEvent } from '../support/delivery-world.ts';
import { startReceiver } from '../support/tls-receiver.ts';
import { report } from './figure.ts';

const answerMs = 50;
const storeMs = 5;
const events = 600;
/** So many runs of the function are active at a time, with ten events each. */
const runs = 20;
/** The service promises so many events a second to one receiver (D41). */
const promised = 100;
/** The limit counts all queue requests of a delivered event (sending, receiving, deleting), at any backlog (D34). */
const requestsAtMost = 3;
/** A client's event may take so many times longer while another client has a backlog. */
const idleTimesAtMost = 2;
/** On a slow machine, delivery may be so many times slower than direct posts. */
const slowerAtMost = 2;

/**
 * Measures events a second over TLS, to one receiver and to fifty, with stores and queue in memory. A slow machine is
 * measured by its direct posts. Then backlogs of 10,000 events run in virtual time.
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
  await benchBacklog('slow', { answerMs: 5_000 });
  await benchBacklog('slowest', { answerMs: 14_900 });
  await benchBacklog('failing', { answerMs: 50, failsEvery: 10 });
  await benchBacklog('down', { answerMs: 50, downSeconds: 3_600 });
}

interface Busy {
  readonly answerMs: number;
  /** One of so many posts fails. */
  readonly failsEvery?: number;
  /** The receiver does not answer for so long. */
  readonly downSeconds?: number;
}

/** Queues 10,000 events for a slow receiver and three events of another client: at once, and 1 and 20 s later. */
async function benchBacklog(name: string, { answerMs, failsEvery = Number.POSITIVE_INFINITY, downSeconds = 0 }: Busy) {
  const [busy, quiet, backlog] = [1_001, 1_002, 10_000];
  const rush = new DeliveryRush({ isFair: true }, busy, quiet);
  const isDown = (clientId: number) => clientId === busy && rush.elapsedSeconds < downSeconds;
  let posts = 0;
  rush.answerMs = (clientId) => (isDown(clientId) ? 15_000 : clientId === busy ? answerMs : 50);
  rush.answer = (clientId) => {
    if (isDown(clientId)) return { fault: 'timeout' };
    return { status: clientId === busy && ++posts % failsEvery === 0 ? 500 : 200 };
  };
  const quietSeconds = async (number: number): Promise<number> => {
    const beganSeconds = rush.elapsedSeconds;
    rush.enqueue(quiet, 1, number);
    await rush.run(() => rush.deliveredAtMs(quiet, number) !== undefined);
    return rush.elapsedSeconds - beganSeconds;
  };
  const idle = await quietSeconds(0);
  rush.enqueue(busy, backlog);
  const beside = await quietSeconds(1);
  await rush.run(() => rush.elapsedSeconds > 1);
  const soon = await quietSeconds(2);
  await rush.run(() => rush.elapsedSeconds > 20);
  const later = await quietSeconds(3);
  await rush.run(() => rush.delivered.size === backlog + 4);
  const requests = rush.queueRequests / rush.delivered.size;
  report({
    figure: `events.queue_requests_${name}`,
    value: requests,
    limit: requestsAtMost,
    unit: 'requests per event',
  });
  const worst = Math.max(beside, soon, later) / idle;
  report({
    figure: `events.other_client_beside_${name}`,
    value: worst,
    limit: idleTimesAtMost,
    unit: 'times its idle time',
  });
}

async function postDirectly(post: (each: Post) => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  let left = events;
  await Promise.all(
    Array.from({ length: 20 }, async () => {
      while (left-- > 0) await post({ url: '', headers: {}, body: JSON.stringify(makeEvent(1)), totalMs: 15_000 });
    }),
  );
  return events / ((performance.now() - startedMs) / 1_000);
}

async function deliver(clientIds: readonly number[], post: DeliverPorts['post']): Promise<number> {
  const world = new DeliveryWorld({ pageItems: 50 });
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
    list: { ...plain.list, put: slow(storeMs, plain.list.put), remove: slow(storeMs, plain.list.remove) },
    queue: {
      sendLater: async (clientId, seconds) => {
        setTimeout(() => queue.push(encodeWake(clientId)), seconds * 1_000);
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
