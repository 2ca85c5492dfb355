import { expect, test } from 'vitest';
import { configKey, deliveryKey, eventKey, eventsBetween } from '../../../lib/webhooks/items.ts';

const event = { clientId: 1001, timestampMs: 1_790_899_199_999, id: 'evt_1' };

/** Items outlive versions (D47): every later version finds them by exactly these keys. */
test.each<[string, object, object]>([
  ['a configuration', configKey(1001), { pk: 'CLIENT#1001', sk: 'CONFIG' }],
  ['a state of delivery', deliveryKey(1001), { pk: 'CLIENT#1001', sk: 'DELIVERY' }],
  ['an event', eventKey(event), { pk: 'CLIENT#1001', sk: 'EVENT#001790899199999#evt_1' }],
])('%s is stored where every version looks for it', (_, key, spelled) => {
  expect(key).toEqual(spelled);
});

test('the events of a time include both ends and nothing else', () => {
  const { timestampMs } = event;
  const found = (ms: number) => {
    const { from, to } = eventsBetween(timestampMs, timestampMs + 5);
    const { sk } = eventKey({ ...event, timestampMs: ms });
    return from <= sk && sk <= to;
  };
  expect([-1, 0, 5, 6].map((later) => found(timestampMs + later))).toEqual([false, true, true, false]);
});
