import { describe, expect, test } from 'vitest';
import { DeliveryRush } from '../../../support/delivery-rush.ts';

const busy = 1001;
const quiet = 1002;
const fair = { isFair: true };
const unfair = { isFair: false };

/** Measures the seconds that a client's single event takes on an idle service. */
async function idleSeconds(): Promise<number> {
  const rush = new DeliveryRush(unfair, quiet);
  rush.enqueue(quiet, 1);
  await rush.run(() => rush.delivered.size === 1);
  return rush.elapsedSeconds;
}

/** Measures the seconds that a new event of the quiet client takes. */
async function quietSeconds(rush: DeliveryRush, number: number): Promise<number> {
  const beganSeconds = rush.elapsedSeconds;
  rush.enqueue(quiet, 1, number);
  await rush.run(() => rush.deliveredAtMs(quiet, number) !== undefined);
  return rush.elapsedSeconds - beganSeconds;
}

describe('a receiver that answers in 50 ms (D34)', () => {
  test.each([300, 600, 3_000])('gets at least 100 of %i events a second, its waits included', async (count) => {
    const rush = new DeliveryRush(unfair, busy);
    rush.enqueue(busy, count);
    await rush.run(() => rush.delivered.size === count);
    expect(rush.delivered.size / rush.elapsedSeconds).toBeGreaterThan(100);
  });

  test('has no more than 20 posts under way', async () => {
    const rush = new DeliveryRush(unfair, busy);
    rush.enqueue(busy, 1_000);
    await rush.run(() => rush.delivered.size >= 500);
    expect([...rush.mostPosts.values()]).toEqual([20]);
  });
});

describe('10,000 events of one client (D34)', () => {
  test.each([
    ['answers in 50 ms', 50],
    ['takes 5 s to answer', 5_000],
    ['takes 14.9 s to answer', 14_900],
  ])('whose receiver %s take no more than 3 queue requests each, and hold up no other', async (_, answerMs) => {
    const rush = new DeliveryRush(fair, busy, quiet);
    rush.answerMs = (clientId) => (clientId === busy ? answerMs : 50);
    const idle = await idleSeconds();
    rush.enqueue(busy, 10_000);
    expect(await quietSeconds(rush, 0)).toBeLessThan(2 * idle);
    await rush.run(() => rush.elapsedSeconds > 20);
    expect(await quietSeconds(rush, 1)).toBeLessThan(2 * idle);
    await rush.run(() => rush.delivered.size === 10_002);
    expect(rush.mostPosts.get(busy)).toBe(20);
    expect(rush.queueRequests / rush.delivered.size).toBeLessThan(3);
  });

  test('before one of another, in a queue that is fair to no client, keep it while they are put into the list', async () => {
    const rush = new DeliveryRush(unfair, busy, quiet);
    rush.answerMs = (clientId) => (clientId === busy ? 10_000 : 50);
    rush.enqueue(busy, 10_000);
    expect(await quietSeconds(rush, 0)).toBeLessThan(3);
    expect(rush.wakes).toBe(0);
  });
});

describe('a receiver that fails', () => {
  test('every tenth post: 2,000 events arrive, for no more than 3 queue requests each', async () => {
    const rush = new DeliveryRush(fair, busy);
    let posts = 0;
    rush.answer = () => ({ status: ++posts % 10 === 0 ? 500 : 200 });
    rush.enqueue(busy, 2_000);
    await rush.run(() => rush.delivered.size === 2_000);
    expect(rush.queueRequests / rush.delivered.size).toBeLessThan(3);
  });

  test('for an hour, in the middle of a rush: all that wait for it take a wake for each of its pauses', async () => {
    const rush = new DeliveryRush(fair, busy, quiet);
    const isDown = () => rush.elapsedSeconds > 1 && rush.elapsedSeconds < 3_600;
    rush.answerMs = (clientId) => (clientId === busy && isDown() ? 15_000 : 50);
    rush.answer = (clientId) => (clientId === busy && isDown() ? { fault: 'timeout' } : { status: 200 });
    rush.enqueue(busy, 3_000);
    await rush.run(() => rush.elapsedSeconds > 3_000);
    const pausesAtMost = 25;
    expect(rush.wakes).toBeLessThan(pausesAtMost);
    expect(await quietSeconds(rush, 0)).toBeLessThan(2 * (await idleSeconds()));
    await rush.run(() => rush.delivered.size === 3_001);
    expect(rush.elapsedSeconds).toBeLessThan(3_600 + 320 + 30);
    expect(rush.wakes).toBeLessThan(pausesAtMost);
  });
});
