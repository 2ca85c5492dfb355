import { describe, expect, test } from 'vitest';
import { defaultEventTypes, type EventType, eventTypes } from '../../../lib/webhooks/event.ts';
import { subscribedOnly, subscribedTypes } from '../../../lib/webhooks/event-subscription.ts';
import { makeEvent } from '../../support/delivery-world.ts';
import { MemoryEvents } from '../../support/memory-events.ts';

describe('what a client wants (D41)', () => {
  test('nothing without a configuration', () => {
    expect(subscribedTypes(undefined)).toEqual(new Set());
  });

  test('all but sent, delivered, read and replied until it chooses', () => {
    expect(eventTypes.filter((type) => !subscribedTypes({}).has(type as EventType))).toEqual([
      'message.sent',
      'message.delivered',
      'message.read',
      'message.replied',
    ]);
  });

  test('what it chose, also nothing; kinds that only a later version knows are left out', () => {
    expect(subscribedTypes({ events: [] })).toEqual(new Set());
    expect(subscribedTypes({ events: ['message.read', 'message.sung'] })).toEqual(new Set(['message.read']));
  });
});

describe('an event that no client wants is dropped before the queue (D41)', () => {
  function filtered(wishes: Readonly<Record<number, ReadonlySet<EventType>>>) {
    const queue = new MemoryEvents();
    const asked: number[] = [];
    const logged: unknown[] = [];
    const sink = subscribedOnly({
      sink: queue,
      wanted: async (clientId) => {
        asked.push(clientId);
        const wish = wishes[clientId];
        if (wish === undefined) throw new Error('no answer');
        return wish;
      },
      log: (event, facts) => void logged.push([event, facts]),
    });
    return { queue, sink, asked, logged };
  }

  test('each client by its own wish, asked for once a call', async () => {
    const { queue, sink, asked } = filtered({ 1: defaultEventTypes, 2: new Set(), 3: new Set(['sync.completed']) });
    await sink.send([makeEvent(1), makeEvent(2), makeEvent(1, 1), makeEvent(3), makeEvent(2, 1)]);
    expect(queue.sent).toEqual([makeEvent(1), makeEvent(1, 1)]);
    expect(asked).toEqual([1, 2, 3]);
  });

  test('where nothing is left the queue is not asked', async () => {
    const { queue, sink } = filtered({ 1: new Set() });
    queue.broken = true;
    await sink.send([makeEvent(1)]);
    await expect(filtered({ 1: defaultEventTypes }).sink.send([])).resolves.toBeUndefined();
  });

  test('a wish that cannot be read drops nothing', async () => {
    const { queue, sink, logged } = filtered({ 2: new Set() });
    await sink.send([makeEvent(1), makeEvent(2)]);
    expect(queue.sent).toEqual([makeEvent(1)]);
    expect(logged).toEqual([['event.wanted_not_read', { clientId: 1, error: 'Error' }]]);
  });

  test('a queue that takes nothing is an error of the call', async () => {
    const { queue, sink } = filtered({ 1: defaultEventTypes });
    queue.broken = true;
    await expect(sink.send([makeEvent(1)])).rejects.toThrow();
  });
});
