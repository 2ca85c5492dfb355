import * as v from 'valibot';
import { expect, test } from 'vitest';
import { sampleEvent } from '../../../infra/local/demo/sample-event.ts';
import { eventTypes, isEventType, ServiceEventSchema } from '../../../lib/webhooks/event.ts';

const subject = { clientId: 1001, did: '5491100000001', wabaId: '200000000000001' };
const nowMs = Date.UTC(2026, 10, 22, 10);
const dispatchId = '01KAH00000000000000000000A';

test.each(eventTypes.filter(isEventType))('a sample of %s is an event that the service could tell', (type) => {
  const event = sampleEvent(type, subject, { dispatchId, nowMs });
  const kind = ServiceEventSchema.options.find(({ entries }) => entries.type.literal === type);
  const strict = v.strictObject({ ...kind?.entries, data: v.strictObject(kind?.entries.data.entries ?? {}) });
  expect(v.safeParse(strict, event)).toMatchObject({ success: true });
  expect(event).toMatchObject({ type, clientId: 1001, timestampMs: nowMs });
});

test('two samples are two events', () => {
  const ids = [dispatchId, '01KAH00000000000000000000B'].map(
    (each) => sampleEvent('message.failed', subject, { dispatchId: each, nowMs }).id,
  );
  expect(new Set(ids).size).toBe(2);
});
