import { Webhook } from 'standardwebhooks';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import { type DeliveryState, DeliveryStateSchema } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { encodeWake } from '../../../../lib/webhooks/delivery/pending.ts';
import type { PostAnswer } from '../../../../lib/webhooks/delivery/verdict.ts';
import { defaultEventTypes, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { DeliveryWorld, firstSecret, makeEvent } from '../../../support/delivery-world.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const client = 1001;
const other = 1002;
const event = makeEvent(client);

function subscribed(...clientIds: readonly number[]): DeliveryWorld {
  const world = new DeliveryWorld();
  for (const clientId of clientIds.length === 0 ? [client] : clientIds) world.subscribe(clientId);
  return world;
}

/** The state of a receiver that has answered once. */
const well: DeliveryState = { ...v.parse(DeliveryStateSchema, {}), lastSuccessMs: 1 };

/** Clients get this event only if they ask for its kind. */
const readMessage = {
  ...{ job_id: 'job', message_id: 'job-0', did: '5491100000001', accepted_at: '2026-11-21T04:00:00.000Z' },
  template: { name: 'order_update', language: 'en_US' },
};

const events = (clientId: number, count: number) =>
  Array.from({ length: count }, (_, number) => makeEvent(clientId, number));

describe('an event', () => {
  test('is recorded and posted, signed, to where the client wants it now', async () => {
    const world = subscribed();
    world.nowMs = Date.now();
    world.enqueue(event);
    await world.run();
    expect([...world.recorded.values()]).toEqual([event]);
    const [post] = world.posts;
    expect(post?.url).toBe('https://example.com/1001');
    const { type, timestampMs, data } = event;
    const payload = { type, timestamp: new Date(timestampMs).toISOString(), data };
    expect(JSON.parse(post?.body ?? '')).toEqual(payload);
    expect(new Webhook(firstSecret).verify(post?.body ?? '', { ...post?.headers })).toEqual(payload);
    expect(post?.headers['webhook-id']).toBe(event.id);
    expect(world.isAtRest).toBe(true);
    expect(world.logs('webhook.delivered')).toMatchObject([{ clientId: client, eventId: event.id, attempt: 1 }]);
  });

  test('is logged with the dispatch and the message that it names, and one that names none without', async () => {
    const world = subscribed();
    world.enqueue({ ...makeEvent(client, 7), type: 'message.unknown', data: readMessage } as ServiceEvent, event);
    await world.run();
    const about = world.logs('webhook.delivered').map(({ eventId, jobId, messageId }) => [eventId, jobId, messageId]);
    expect(about).toEqual([
      [makeEvent(client, 7).id, 'job', 'job-0'],
      [event.id, undefined, undefined],
    ]);
  });

  test('during a rotation carries two signatures', async () => {
    const world = new DeliveryWorld();
    world.subscribe(client, [firstSecret, 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDCTxUYnPNNo0=']);
    world.enqueue(event);
    await world.run();
    expect(world.posts[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  });

  test('without a receiver, or with one that is off, is recorded and waits for nothing', async () => {
    const world = subscribed(other);
    world.receivers.set(client, { url: '', version: 1, wanted: defaultEventTypes, secrets: [], active: false });
    world.enqueue(event, makeEvent(1003));
    await world.run();
    expect(world.recorded.size).toBe(2);
    expect([world.posts, world.isAtRest]).toEqual([[], true]);
    // The run makes no read of the table for the event itself; the wake beside it reads the list.
    const delivery = { messageId: 'message', body: encodeEvent(event) };
    const change = () => Promise.reject(new Error('asked'));
    expect(await deliverBatch([delivery], world.ports({ states: { change } }))).toEqual([]);
    expect(await deliverBatch([delivery, { messageId: 'wake', body: encodeWake(client) }], world.ports())).toEqual([]);
  });

  test('of a kind that the client does not want (any more) is not posted and waits for nothing (D41)', async () => {
    const world = subscribed();
    const receiver = world.receivers.get(client);
    if (receiver !== undefined) world.receivers.set(client, { ...receiver, wanted: new Set(['sync.completed']) });
    world.enqueue(event);
    await world.run();
    expect([world.posts, world.isAtRest]).toEqual([[], true]);
  });

  test('that cannot be read fails alone', async () => {
    const world = subscribed();
    world.enqueue(event, { ...event, type: 'template.archived' } as never);
    await world.run();
    expect(world.posts).toHaveLength(1);
    expect(world.queued).toMatchObject([{ body: { type: 'template.archived' }, inMs: 360_000 }]);
  });
});

describe('a failing receiver (R42, R43)', () => {
  test('gets eight attempts in more than 27 hours, one id, a timestamp each; then the event is given up', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 500 });
    world.random = 0;
    world.enqueue(event);
    const beganMs = world.nowMs;
    await world.runUntil(beganMs + 3 * dayMs);
    expect(world.posts).toHaveLength(8);
    expect(new Set(world.posts.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([event.id]));
    expect(new Set(world.posts.map(({ body }) => body)).size).toBe(1);
    expect(world.posts.map(({ headers }) => Number(headers['webhook-timestamp']))).toEqual(
      world.posts.map(({ atMs }) => Math.floor(atMs / 1_000)),
    );
    expect((world.posts.at(-1)?.atMs ?? 0) - beganMs).toBeGreaterThan(27 * hourMs);
    expect(world.isAtRest).toBe(true);
    expect(world.logs('webhook.abandoned')).toEqual([
      { clientId: client, eventId: event.id, eventType: event.type, attempt: 8, code: 'attempts' },
    ]);
    expect(world.recorded.has(event.id)).toBe(true);
  });

  test('is looked at within what the queue allows, and never early', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 503, retryAfter: '2000' });
    world.enqueue(event);
    await world.run();
    const delays: number[] = [];
    while (world.posts.length === 1) {
      const [wake] = world.queued;
      delays.push(wake?.inMs ?? 0);
      world.nowMs += wake?.inMs ?? 0;
      await world.run();
    }
    expect(delays).toEqual([900_000, 900_000, 200_000]);
    expect(world.posts).toHaveLength(2);
  });

  test('whose client switches it off is left alone: what waits ends within 15 minutes, in a longer pause too', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 500, retryAfter: '3600' });
    world.enqueue(event, makeEvent(client, 1));
    await world.run();
    const receiver = world.receivers.get(client);
    if (receiver !== undefined) receiver.active = false;
    await world.runUntil(world.nowMs + hourMs / 4);
    expect([world.posts.length, world.isAtRest]).toEqual([1, true]);
    expect(world.logs('webhook.abandoned')).toEqual([]);
  });

  test('that comes back gets everything', async () => {
    const world = subscribed();
    world.answer = () => ({ fault: 'timeout' });
    world.enqueue(...events(client, 25));
    await world.runUntil(world.nowMs + hourMs);
    expect(world.logs('webhook.delivered')).toEqual([]);
    world.answer = () => ({ status: 204 });
    await world.runUntil(world.nowMs + dayMs);
    const delivered = new Set(world.logs('webhook.delivered').map(({ eventId }) => eventId));
    expect([delivered.size, world.isAtRest]).toEqual([25, true]);
  });

  test('that is gone is switched off at once, with everything that waits', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 410 });
    world.enqueue(...events(client, 5));
    await world.run();
    expect([world.posts.length, world.isAtRest]).toEqual([1, true]);
    expect(world.logs('webhook.switched_off')).toEqual([{ clientId: client, code: 'gone' }]);
  });

  test('410 on a configuration that was replaced meanwhile switches nothing off and loses nothing', async () => {
    const world = subscribed();
    world.answer = () => {
      const receiver = world.receivers.get(client);
      const url = 'https://example.com/new';
      world.receivers.set(client, { url, version: 2, wanted: defaultEventTypes, secrets: [], active: true });
      return receiver?.version === 1 ? { status: 410 } : { status: 200 };
    };
    world.enqueue(...events(client, 3));
    await world.runUntil(world.nowMs + hourMs);
    expect(world.logs('webhook.switched_off')).toEqual([]);
    expect(new Set(world.logs('webhook.delivered').map(({ eventId }) => eventId)).size).toBe(3);
  });

  test('after five days of nothing but failures is switched off', async () => {
    const world = subscribed();
    world.answer = () => ({ fault: 'timeout' });
    const beganMs = world.nowMs;
    for (let day = 0; day < 6; day += 1) {
      world.enqueue(makeEvent(client, day));
      await world.runUntil(beganMs + (day + 1) * dayMs);
      if (day === 3) expect(world.logs('webhook.switched_off')).toEqual([]);
    }
    expect(world.logs('webhook.switched_off')).toEqual([{ clientId: client, code: 'failing' }]);
    const lastMs = world.posts.at(-1)?.atMs ?? 0;
    expect(lastMs - beganMs).toBeGreaterThanOrEqual(5 * dayMs);
    await world.runUntil(world.nowMs + hourMs);
    expect([world.receivers.get(client)?.active, world.isAtRest]).toEqual([false, true]);
  });
});

describe('posts of one client side by side', () => {
  /** A receiver in good state whose answers the test gives. */
  function answering(count: number) {
    const world = subscribed();
    world.states.set(client, well);
    const answers: ((answer: PostAnswer) => void)[] = [];
    world.answer = () => new Promise((resolve) => answers.push(resolve));
    world.enqueue(...events(client, count));
    return { world, answers, running: world.run() };
  }

  test('ten while it is well; of an unknown one the first must end before', async () => {
    const { world, answers, running } = answering(10);
    await expect.poll(() => answers.length).toBe(10);
    for (const answer of answers) answer({ status: 200 });
    await running;
    expect(world.logs('webhook.delivered')).toHaveLength(10);
    const unknown = subscribed();
    unknown.answer = () => ({ status: 500 });
    unknown.enqueue(...events(client, 10));
    await unknown.run();
    expect(unknown.posts).toHaveLength(1);
  });

  test('what fails together is one failure; each event that failed counts an attempt, what arrived has arrived', async () => {
    const { world, answers, running } = answering(10);
    await expect.poll(() => answers.length).toBe(10);
    for (const [position, answer] of answers.entries()) {
      answer({ status: position < 7 ? 200 : 429, retryAfter: String(100 * position) });
    }
    await running;
    expect(world.logs('webhook.delivered')).toHaveLength(7);
    expect(world.waiting.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    const state = world.states.get(client);
    expect([state?.consecutiveFailures, (state?.pausedUntilMs ?? 0) - world.nowMs, state?.width]).toEqual([
      1, 900_000, 10,
    ]);
  });

  test('a 410 among them ends all that wait; what the others were answered stands', async () => {
    const { world, answers, running } = answering(10);
    await expect.poll(() => answers.length).toBe(10);
    for (const [position, answer] of answers.entries()) answer({ status: [200, 500, 410][position % 3] ?? 0 });
    await running;
    expect(world.logs('webhook.delivered')).toHaveLength(4);
    expect([world.receivers.get(client)?.active, world.isAtRest]).toEqual([false, true]);
  });

  test('one that breaks leaves the others their answers', async () => {
    const { world, answers, running } = answering(3);
    await expect.poll(() => answers.length).toBe(3);
    answers[0]?.(Promise.reject(new Error('broken')) as never);
    answers[1]?.({ status: 200 });
    answers[2]?.({ status: 200 });
    await running;
    expect(world.logs('webhook.delivered')).toHaveLength(2);
    // One wake is for the failed receiver; the other is for events that its run may have left.
    expect(world.queued).toMatchObject([{ body: { wakeClientId: client }, inMs: 41_000 }, { inMs: 360_000 }]);
  });
});

describe('one client beside another', () => {
  test('several hundred events for a receiver that is dead delay nobody', async () => {
    const world = subscribed(client, other);
    world.answer = ({ url }) => (url.endsWith('/1001') ? { fault: 'timeout' } : { status: 200 });
    world.enqueue(...events(client, 400), ...events(other, 20));
    await world.run();
    expect(world.postsTo(client)).toHaveLength(1);
    expect(world.postsTo(other)).toHaveLength(20);
    expect(world.batches).toBe(42);
    expect([world.waiting.length, world.wakes]).toEqual([400, 1]);
  });

  test('while it stays dead it gets single probes, further and further apart', async () => {
    const world = subscribed(client, other);
    world.answer = ({ url }) => (url.endsWith('/1001') ? { fault: 'timeout' } : { status: 200 });
    world.enqueue(...events(client, 60));
    const beganMs = world.nowMs;
    await world.runUntil(beganMs + hourMs);
    world.enqueue(...events(other, 5));
    await world.run();
    expect(world.postsTo(other)).toHaveLength(5);
    const probes = world.postsTo(client).map(({ atMs }) => atMs - beganMs);
    // 5, 10, 20, 40, 80 and 160 s make about five minutes; then a probe comes every five.
    expect(probes.length).toBeGreaterThan(10);
    expect(probes.length).toBeLessThan(20);
  });

  test('a slow one holds one run; its other events wait without an attempt, and that run posts them in order', async () => {
    const world = subscribed();
    const answers: ((answer: { status: number }) => void)[] = [];
    world.answer = () => new Promise((resolve) => answers.push(resolve));
    const deliver = (each: ServiceEvent) =>
      deliverBatch([{ messageId: each.id, body: encodeEvent(each) }], world.ports());
    const [first = event, ...others] = events(client, 6).map((each, at) => ({ ...each, timestampMs: 1_000 - at }));
    world.states.set(client, { ...well, width: 1, widthAtMs: world.nowMs });
    const running = deliver(first);
    await expect.poll(() => answers.length).toBe(1);
    for (const each of others) expect(await deliver(each)).toEqual([]);
    expect([world.posts.length, world.waiting.map(({ attempts }) => attempts)]).toEqual([1, [0, 0, 0, 0, 0]]);
    for (let posts = 1; posts <= 6; posts += 1) {
      await expect.poll(() => answers.length).toBe(posts);
      answers[posts - 1]?.({ status: 200 });
    }
    expect(await running).toEqual([]);
    const ids = [first, ...others.toReversed()].map(({ id }) => id);
    expect(world.posts.map(({ headers }) => headers['webhook-id'])).toEqual(ids);
    expect([world.isAtRest, world.wakes]).toEqual([true, 0]);
  });

  test('a run that is still at work keeps its messages: a double of one is not acknowledged by another run', async () => {
    const world = subscribed();
    const answers: ((answer: { status: number }) => void)[] = [];
    world.answer = () => new Promise((resolve) => answers.push(resolve));
    const delivery = { messageId: 'message', body: encodeEvent(event) };
    const running = deliverBatch([delivery], world.ports());
    await expect.poll(() => answers.length).toBe(1);
    expect(await deliverBatch([delivery], world.ports())).toEqual(['message']);
    answers[0]?.({ status: 200 });
    await expect.poll(() => answers.length).toBe(2);
    answers[1]?.({ status: 200 });
    expect(await running).toEqual([]);
  });

  test('what a later version has put into the list stays there, and holds up nothing', async () => {
    const world = subscribed();
    await world.wait({ event, attempts: 0, firstSeenMs: world.nowMs, dueMs: world.nowMs });
    const { list } = world.ports();
    async function* pages(clientId: number) {
      for await (const page of list.pages(clientId)) yield [undefined, ...page];
    }
    const wake = { messageId: 'wake', body: encodeWake(client) };
    expect(await deliverBatch([wake], world.ports({ list: { ...list, pages } }))).toEqual([]);
    expect(world.postsTo(client)).toHaveLength(1);
    expect(world.queued).toMatchObject([{ body: { wakeClientId: client }, inMs: 900_000 }]);
    expect(world.logs('webhook.error')).toEqual([{ clientId: client, count: 1, error: 'Unreadable' }]);
  });

  test('what there is no time for waits, uncounted, for a wake that comes at once', async () => {
    const world = subscribed();
    world.answer = () => {
      world.nowMs += 12_000;
      return { status: 200 };
    };
    world.enqueue(...events(client, 5));
    const remaining = world.nowMs + 60_000;
    await world.run({ remainingMs: () => remaining - world.nowMs });
    expect(world.postsTo(client)).toHaveLength(2);
    expect(world.waiting.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    expect(world.queued).toMatchObject([{ body: { wakeClientId: client }, inMs: 1_000 }]);
  });

  test.each([
    [24_999, 0],
    [25_000, 1],
  ])(
    'a run that ends in %i ms starts %i posts: each has its time-out, and ten seconds to say how it ended',
    async (ms, posts) => {
      const world = subscribed();
      await deliverBatch([{ messageId: 'message', body: encodeEvent(event) }], world.ports({ remainingMs: () => ms }));
      expect([world.posts.length, world.waiting.length]).toEqual([posts, 1 - posts]);
    },
  );

  test('a wake is noted for its time; one that was over before it could be is sent again, four times at most', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 500, retryAfter: '3600' });
    world.enqueue(event);
    await world.run();
    expect([world.wakes, world.states.get(client)?.wakeAtMs]).toEqual([1, world.nowMs + 900_000]);
    const slow = subscribed();
    slow.answer = world.answer;
    const { queue } = slow.ports();
    const wakeLater = async (clientId: number, delaySeconds: number) => {
      await queue.wakeLater(clientId, delaySeconds);
      slow.nowMs += 901_000;
    };
    const delivery = { messageId: 'message', body: encodeEvent(event) };
    expect(await deliverBatch([delivery], slow.ports({ queue: { wakeLater } }))).toEqual([]);
    // The fifth wake is for events that another run may have left.
    expect([slow.wakes, slow.logs('webhook.error').length, slow.waiting.length]).toEqual([5, 1, 1]);
  });

  test('an event that found no place for five days is given up and stays recorded', async () => {
    const world = subscribed();
    world.states.set(client, { ...well, pausedUntilMs: world.nowMs + 6 * dayMs, consecutiveFailures: 1 });
    world.enqueue(event);
    await world.runUntil(world.nowMs + 6 * dayMs);
    expect([world.posts, world.isAtRest]).toEqual([[], true]);
    expect(world.logs('webhook.abandoned')).toMatchObject([{ eventId: event.id, attempt: 0, code: 'time' }]);
  });
});

describe('whatever breaks', () => {
  test.each(['record', 'find', 'enter', 'leave'])(
    'before %s: the event arrives, under one id, in one post',
    async (step) => {
      const world = subscribed();
      world.breakAt = step;
      world.enqueue(event);
      await world.runUntil(world.nowMs + hourMs);
      expect(world.posts.map(({ headers }) => headers['webhook-id'])).toEqual([event.id]);
      expect([world.recorded.size, world.isAtRest]).toEqual([1, true]);
    },
  );

  test('a run that dies after the post and before the acknowledgement: the same event once more', async () => {
    const world = subscribed();
    const delivery = { messageId: 'message', body: encodeEvent(event) };
    await deliverBatch([delivery], world.ports());
    await deliverBatch([delivery], world.ports());
    expect(world.posts.map(({ headers }) => headers['webhook-id'])).toEqual([event.id, event.id]);
    expect(world.recorded.size).toBe(1);
  });

  test('a run that died with a call: its messages bring a run to the list, also when the client no longer wants their kind', async () => {
    const world = subscribed();
    const listed = makeEvent(client, 1);
    await world.wait({ event: listed, attempts: 0, firstSeenMs: world.nowMs, dueMs: world.nowMs });
    const lease = { owner: 'dead', untilMs: world.nowMs, messages: ['message 1'] };
    world.states.set(client, { ...well, lease });
    world.enqueue({
      ...{ id: `evt_${'a'.repeat(26)}`, clientId: client, type: 'message.read', timestampMs: 1 },
      data: readMessage,
    });
    await world.run();
    expect(world.posts.map(({ headers }) => headers['webhook-id'])).toEqual([listed.id]);
    expect(world.isAtRest).toBe(true);
  });

  test.each([
    ['before it is put into the list: no loss', 'put', 1],
    ['after it is put into the list: a double, no loss', 'afterPut', 2],
    ['before a wake is sent: another one is, no loss', 'wakeLater', 1],
    ['after a wake is sent, before it is noted: no loss', 'afterWakeLater', 1],
  ])('%s', async (_, step, deliveries) => {
    const world = subscribed();
    let answered = 0;
    world.answer = () => ({ status: ++answered === 1 ? 500 : 200 });
    world.breakAt = step;
    world.enqueue(event);
    await world.runUntil(world.nowMs + hourMs);
    expect(world.logs('webhook.delivered')).toHaveLength(deliveries);
    expect([new Set(world.posts.map(({ headers }) => headers['webhook-id'])).size, world.isAtRest]).toEqual([1, true]);
  });
});
