import { expect, test } from 'vitest';
import { createdEvents } from '../../../lib/templates/model/template-event.ts';
import { eventQueue } from '../../../lib/webhooks/event-queue.ts';
import { queuedEvents } from '../../support/events.ts';
import { injectFaults, seededFaults } from '../../support/faults.ts';
import { freshQueue, localQueueClient } from '../../support/stores.ts';
import { makeTemplate } from '../../support/templates.ts';

const events = createdEvents(
  { ...makeTemplate(), wabaId: '200000000000001' },
  Array.from({ length: 123 }, (_, clientId) => ({ clientId, templateId: `document ${clientId}` })),
  1_800_000_000_000,
);
const noPause = async () => undefined;

test('every event arrives, ten a request', async () => {
  const { sink, arrived } = await queuedEvents();
  await sink.send(events);
  expect(await arrived()).toEqual(events);
  await sink.send([]);
  expect(await arrived()).toEqual([]);
});

test('with refused entries, throttles and lost replies nothing is missing (R32)', async () => {
  const { url, arrived } = await queuedEvents();
  const client = localQueueClient();
  const faults = seededFaults(5, 0.2, [
    { kind: 'partial_batch', count: 4 },
    { kind: 'throttle' },
    { kind: 'lose_reply' },
  ]);
  const { attempts } = injectFaults(client, faults);
  await eventQueue(client, url, noPause).send(events);
  const ids = new Set((await arrived()).map(({ id }) => id));
  expect(ids).toEqual(new Set(events.map(({ id }) => id)));
  expect(attempts.length).toBeGreaterThan(13);
});

test('what the queue keeps refusing is an error after four tries', async () => {
  const client = localQueueClient();
  let requests = 0;
  injectFaults(client, () => {
    requests += 1;
    return { kind: 'partial_batch', count: 10 };
  });
  const sent = eventQueue(client, await freshQueue(), noPause).send(events.slice(0, 10));
  await expect(sent).rejects.toThrow('refused 10 events 4 times');
  expect(requests).toBe(4);
});
