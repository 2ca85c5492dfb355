import { describe, expect, test } from 'vitest';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import { encodeWake } from '../../../../lib/webhooks/delivery/pending.ts';
import type { PostAnswer } from '../../../../lib/webhooks/delivery/post-result.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { encodeEvent } from '../../../../lib/webhooks/event-queue.ts';
import { client, event, events, other, subscribed, well } from './subscribed.ts';

const hourMs = 3_600_000;

const dayMs = 24 * hourMs;

describe('posts of one client side by side', () => {
  /** The test gives the answers of a receiver in good state. */
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

// That no client waits for another is in delivery-explorer.test.ts and delivery-rate.test.ts.
describe('one client beside another', () => {
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
    const sendLater = async (clientId: number, delaySeconds: number) => {
      await queue.sendLater(clientId, delaySeconds);
      slow.nowMs += 901_000;
    };
    const delivery = { messageId: 'message', body: encodeEvent(event) };
    expect(await deliverBatch([delivery], slow.ports({ queue: { sendLater } }))).toEqual([]);
    // The fifth wake is for events that another run may have left.
    expect([slow.wakes, slow.logs('webhook.error').length, slow.waiting.length]).toEqual([5, 1, 1]);
  });

  test('an event that found no place for five days is given up and stays recorded', async () => {
    const world = subscribed();
    const pausedUntilMs = world.nowMs + 6 * dayMs;
    world.states.set(client, { ...well, pausedUntilMs, triedVersion: 1, consecutiveFailures: 1 });
    world.enqueue(event);
    await world.runUntil(world.nowMs + 6 * dayMs);
    expect([world.posts, world.isAtRest]).toEqual([[], true]);
    expect(world.logs('webhook.abandoned')).toMatchObject([{ eventId: event.id, attempt: 0, code: 'time' }]);
  });
});
