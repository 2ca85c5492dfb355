import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import type { Receiver } from '../../../../lib/webhooks/delivery/deliver-ports.ts';
import { failingEvent } from '../../../../lib/webhooks/delivery/failing-event.ts';
import { encodeWake } from '../../../../lib/webhooks/delivery/pending.ts';
import { defaultEventTypes, type EventType, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { DeliveryWorld, firstSecret, makeEvent } from '../../../support/delivery-world.ts';
import { client, event, events, other, readMessage, subscribed, well } from './subscribed.ts';

const hourMs = 3_600_000;

const dayMs = 24 * hourMs;

function wantsOnly(world: DeliveryWorld, type: EventType): void {
  const receiver = world.receivers.get(client);
  if (receiver !== undefined) world.receivers.set(client, { ...receiver, wanted: new Set([type]) });
}

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
    const about = world
      .logs('webhook.delivered')
      .map(({ eventId, dispatchId, messageId }) => [eventId, dispatchId, messageId]);
    expect(about).toEqual([
      [makeEvent(client, 7).id, 'dispatch', 'dispatch-0'],
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
    wantsOnly(world, 'sync.completed');
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
    wantsOnly(world, event.type);
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

  test('that is gone is switched off at once, with everything that waits', async () => {
    const world = subscribed();
    world.answer = () => ({ status: 410 });
    world.enqueue(...events(client, 5));
    await world.run();
    expect([world.posts.length, world.isAtRest]).toEqual([1, true]);
    expect(world.logs('webhook.switched_off')).toEqual([{ clientId: client, code: 'gone' }]);
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
    // The event that tells of it is recorded, and waits for no receiver that is off (D34).
    expect(world.recorded.has(failingEvent(client, beganMs).id)).toBe(true);
  });
});

describe('a client is told of its failing receiver (D34)', () => {
  const minuteMs = 60_000;
  const failingIn = (world: DeliveryWorld) =>
    [...world.recorded.values()].filter(({ type }) => type === 'webhook.failing');

  /** Ten events come while the receiver is away for this long. */
  async function away(world: DeliveryWorld, forMs: number): Promise<void> {
    world.answer = () => ({ fault: 'timeout' });
    world.enqueue(...Array.from({ length: 10 }, (_, at) => makeEvent(client, world.recorded.size + at)));
    await world.runUntil(world.nowMs + forMs);
  }

  async function back(world: DeliveryWorld): Promise<void> {
    world.answer = () => ({ status: 204 });
    await world.runUntil(world.nowMs + dayMs);
  }

  test('once for each time that it was away for 15 minutes or more, when it is back', async () => {
    const world = subscribed();
    const began: number[] = [];
    for (const forMs of [14 * minuteMs, hourMs, hourMs]) {
      began.push(world.nowMs);
      await away(world, forMs);
      await back(world);
    }
    const expected = began.slice(1).map((sinceMs) => failingEvent(client, sinceMs));
    expect(failingIn(world)).toEqual(expected);
    const arrived = world.logs('webhook.delivered').filter(({ eventType }) => eventType === 'webhook.failing');
    expect(arrived.map(({ eventId }) => eventId)).toEqual(expected.map(({ id }) => id));
    const since = new Date(began[1] ?? 0).toISOString();
    const timestamp = new Date((began[1] ?? 0) + 15 * minuteMs).toISOString();
    const { body = '' } = world.posts.find(({ headers }) => headers['webhook-id'] === expected[0]?.id) ?? {};
    expect(JSON.parse(body)).toEqual({ type: 'webhook.failing', timestamp, data: { since } });
    expect(world.isAtRest).toBe(true);
  });

  test('at the address that it names instead', async () => {
    const world = subscribed();
    await away(world, hourMs);
    const url = 'https://example.com/new';
    world.receivers.set(client, { url, version: 2, wanted: defaultEventTypes, secrets: [firstSecret], active: true });
    await back(world);
    const [told] = failingIn(world);
    expect(world.posts.filter(({ headers }) => headers['webhook-id'] === told?.id).at(-1)?.url).toBe(url);
    expect(world.isAtRest).toBe(true);
  });

  /** The client writes its configuration, and what waits is woken. */
  async function put(world: DeliveryWorld): Promise<void> {
    const receiver = world.receivers.get(client) as Receiver & { active: boolean };
    world.receivers.set(client, { ...receiver, version: receiver.version + 1 });
    await world.ports().queue.sendLater(client, 0);
    await world.run();
  }

  test('a PUT with the same address ends its pause: all that waits comes at once (D33)', async () => {
    const world = subscribed();
    await away(world, hourMs);
    expect(world.waiting).toHaveLength(11);
    expect(world.waiting.filter(({ dueMs }) => dueMs > world.nowMs).length).toBeGreaterThan(0);
    world.answer = () => ({ status: 204 });
    await put(world);
    expect(world.waiting).toEqual([]);
    await back(world);
    expect(world.isAtRest).toBe(true);
  });

  test('a PUT that helps nothing costs one post, and none of the attempts of 27 hours (D34)', async () => {
    const world = subscribed();
    world.answer = () => ({ fault: 'timeout' });
    world.enqueue(event);
    await world.runUntil(world.nowMs + 10 * minuteMs);
    const [before, posts] = [world.waiting, world.posts.length];
    for (let times = 0; times < 10; times += 1) await put(world);
    expect([world.waiting, world.posts.length - posts]).toEqual([before, 10]);
    world.answer = () => ({ status: 503, retryAfter: '36000' });
    await put(world);
    expect(world.waiting.filter(({ dueMs }) => dueMs === world.nowMs + 10 * hourMs)).toHaveLength(1);
    expect(world.waiting).toMatchObject([{ attempts: before[0]?.attempts }]);
    await back(world);
    expect([world.isAtRest, world.logs('webhook.abandoned')]).toEqual([true, []]);
  });

  test('not of failures of this kind of event alone, which a receiver may not know', async () => {
    const world = subscribed();
    await away(world, hourMs);
    world.answer = ({ body }) => ({ status: body.includes('webhook.failing') ? 400 : 204 });
    for (let hour = 0; hour < 72; hour += 1) {
      world.enqueue(makeEvent(client, 1_000 + hour));
      await world.runUntil(world.nowMs + 2.6 * hourMs);
    }
    expect(failingIn(world)).toHaveLength(1);
    expect(world.isAtRest).toBe(true);
  });

  test('only if it wants this kind', async () => {
    const world = subscribed();
    wantsOnly(world, 'template.created');
    await away(world, hourMs);
    expect(failingIn(world)).toEqual([]);
  });
});

// Runs that die or stall, calls that fail or land late and doubles are in delivery-explorer.test.ts.
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
