import { expect, test } from 'vitest';
import {
  firstHeartbeatMs,
  firstHeartbeatOf,
  type InFlightDelivery,
  startHeartbeat,
} from '../../../../lib/messages/send/visibility-heartbeat.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const clockStartMs = 1_800_000_000_000;

function deliveryAt(receives: number, name = `m${receives}`): InFlightDelivery {
  return {
    messageId: name,
    receiptHandle: `receipt of ${name}`,
    attributes: { ApproximateReceiveCount: String(receives) },
  };
}

/** The queue knows when each delivery comes again; every request takes 20 ms, and a hold may take longer. */
class Visibility {
  readonly clock = new VirtualClock(clockStartMs);
  readonly visibleAtMs = new Map<string, number>();
  readonly logged: object[] = [];
  requests = 0;
  broken = false;
  holdMs = 20;

  private async set(receiptHandles: readonly string[], seconds: number, takesMs = 20): Promise<void> {
    this.requests += 1;
    if (this.broken) throw new Error('the queue is away');
    await this.clock.pause(takesMs);
    for (const handle of receiptHandles) this.visibleAtMs.set(handle, this.clock.nowMs() + seconds * 1_000);
  }

  readonly queue: Parameters<typeof startHeartbeat>[1]['queue'] = {
    postpone: async (receiptHandle, seconds) => await this.set([receiptHandle], seconds),
    hold: async (receiptHandles, seconds) => await this.set(receiptHandles, seconds, this.holdMs),
  };

  hold(deliveries: readonly InFlightDelivery[], afterMs: number = firstHeartbeatMs.codes) {
    const log = (event: string, facts: object) => void this.logged.push({ event, ...facts });
    return startHeartbeat(deliveries, { queue: this.queue, pause: this.clock.pause, log }, afterMs);
  }

  againIn(name: string): number {
    return Math.round(((this.visibleAtMs.get(`receipt of ${name}`) ?? Number.NaN) - this.clock.nowMs()) / 1_000);
  }
}

test('a run with codes that dies at any moment leaves them invisible for half a minute at most', async () => {
  const visibility = new Visibility();
  visibility.hold([deliveryAt(1, 'a'), deliveryAt(1, 'b')]);
  for (let second = 1; second <= 58; second += 1) {
    await visibility.clock.run(visibility.clock.pause(1_000));
    for (const name of ['a', 'b']) {
      expect(visibility.againIn(name)).toBeGreaterThan(0);
      expect(visibility.againIn(name)).toBeLessThanOrEqual(30);
    }
  }
  expect(visibility.requests).toBe(4);
});

test('any other run holds its messages after two seconds, and a run that is over by then asks nothing of the queue', async () => {
  const visibility = new Visibility();
  visibility.hold([deliveryAt(1, 'a'), deliveryAt(1, 'b')], firstHeartbeatMs.others);
  const short = visibility.hold([deliveryAt(1, 'c')], firstHeartbeatMs.others);
  await visibility.clock.run(visibility.clock.pause(1_900));
  expect(visibility.requests).toBe(0);
  await visibility.clock.run(short.end([]));
  for (let second = 1; second <= 57; second += 1) {
    await visibility.clock.run(visibility.clock.pause(1_000));
    expect(visibility.againIn('a')).toBeGreaterThan(0);
    expect(visibility.againIn('b')).toBeLessThanOrEqual(30);
  }
  expect(visibility.visibleAtMs.has('receipt of c')).toBe(false);
  expect(visibility.requests).toBe(4);
});

test('a run holds at once where a code is among its requests, and no other run does (R19, D44)', () => {
  const [code, quoting, other] = [{ urgent: true }, { body: '"urgent":true' }, {}].map((head) => ({
    body: JSON.stringify({ head }),
  }));
  if (code === undefined || quoting === undefined || other === undefined) throw new Error('no bodies');
  expect(firstHeartbeatOf([quoting, code])).toBe(firstHeartbeatMs.codes);
  expect(firstHeartbeatOf([quoting, other])).toBe(firstHeartbeatMs.others);
});

test('what fails before anything is held comes again after a time of its own all the same', async () => {
  const visibility = new Visibility();
  const uncounted = { messageId: 'c', receiptHandle: 'receipt of c' };
  const held = visibility.hold([deliveryAt(1, 'a'), deliveryAt(2, 'b'), uncounted], firstHeartbeatMs.others);
  await visibility.clock.run(held.end(['b', 'c']));
  expect([visibility.againIn('b'), visibility.againIn('c'), visibility.requests]).toEqual([90, 30, 2]);
});

test('a run ends when its last request has, and is renewed no more', async () => {
  const visibility = new Visibility();
  const held = visibility.hold([deliveryAt(1)]);
  await visibility.clock.run(held.end([]));
  expect(visibility.againIn('m1')).toBe(30);
  await visibility.clock.run(visibility.clock.pause(60_000));
  expect(visibility.requests).toBe(1);
});

test.each([
  [1, 30],
  [2, 90],
  [3, 270],
  [4, 810],
  [9, 900],
])('a delivery that fails the %i. time comes again after %i s', async (receives, seconds) => {
  const visibility = new Visibility();
  const held = visibility.hold([deliveryAt(receives), deliveryAt(1, 'good')]);
  await visibility.clock.run(held.end([`m${receives}`]));
  expect(visibility.againIn(`m${receives}`)).toBe(seconds);
  expect(visibility.againIn('good')).toBe(30);
});

test('a queue that refuses all of it fails no run', async () => {
  const visibility = new Visibility();
  visibility.broken = true;
  const held = visibility.hold([deliveryAt(1), deliveryAt(2)]);
  await visibility.clock.run(held.end(['m1']));
  const failed = { event: 'send.postpone_failed', error: 'Error' };
  expect(visibility.logged).toEqual([2, 1].map((count) => ({ ...failed, count })));
});
