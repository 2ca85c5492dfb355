import { expect, test } from 'vitest';
import { type WatchPorts, watchDispatches } from '../../../../lib/messages/watch/watch.ts';
import { type CountMessage, countMessageOf } from '../../../../lib/messages/watch/watch-message.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';

const delivery = (message: unknown, messageId: string) => ({ messageId, body: JSON.stringify(message) });

test('a look that fails comes again, alone (D58)', async () => {
  const head = makeDispatchHead();
  const counted: CountMessage[] = [];
  const ports: WatchPorts = {
    events: new MemoryEvents(),
    spend: {
      countLater: () => Promise.reject(new Error('not asked')),
      count: async (message) => {
        if (message.dispatchId === 'other') throw new Error('no answer');
        counted.push(message);
      },
    },
    parked: undefined as unknown as WatchPorts['parked'],
    nowMs: () => 1_800_000_000_000,
    log: () => undefined,
  };
  const good = countMessageOf(head, 1);
  const deliveries = [
    delivery({ ...good, dispatchId: 'other' }, 'unanswered'),
    delivery({ ...good, version: 2 }, 'later version'),
    delivery({ ...good, kind: 'running', final: [] }, 'a kind that was'),
    { messageId: 'unreadable', body: '{' },
    delivery(good, 'good'),
  ];
  expect(await watchDispatches(deliveries, ports)).toEqual([
    ...['unanswered', 'later version', 'a kind that was', 'unreadable'],
  ]);
  expect(counted).toEqual([good]);
});
