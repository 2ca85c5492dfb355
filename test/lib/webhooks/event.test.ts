import * as v from 'valibot';
import { expect, test } from 'vitest';
import { accountEvents } from '../../../lib/hints/account-events.ts';
import { repliedEvent } from '../../../lib/messages/inbound/replied-event.ts';
import { completedEvent } from '../../../lib/messages/send/completed-event.ts';
import { messageEvent, outcomeEvent } from '../../../lib/messages/send/message-event.ts';
import { parkedEvent, resumedEvent } from '../../../lib/messages/send/pause-events.ts';
import { optOutEvent } from '../../../lib/opt-outs/opt-out-event.ts';
import {
  createdEvents,
  deletedEvents,
  receiverOf,
  statusChangedEvents,
} from '../../../lib/templates/model/template-event.ts';
import { eventId, eventTypes, type ServiceEvent, ServiceEventSchema } from '../../../lib/webhooks/event.ts';
import { makeDispatchHead } from '../../support/made-dispatches.ts';
import { makeRow, makeTemplate } from '../../support/templates.ts';

const nowMs = 1_800_000_000_000;
const longest = makeTemplate({
  name: 'n'.repeat(512),
  status: 'REJECTED',
  rejected_reason: '☃'.repeat(50_000),
});
const announced = { ...longest, wabaId: '200000000000001' };
const row = makeRow({ name: longest.name });
const about = {
  did: '5491100000001',
  template: { name: longest.name, language: 'en_US' },
  campaignId: 10,
  // No request may have a longer value.
  attends: { waitTime: '☃'.repeat(1_360) },
};
const recipient = { dispatchId: 'J', index: 9_999, clientId: 1001, acceptedAtMs: nowMs, about, to: '5491155550001' };
const parked = { code: '131042', scope: 'platform', sinceMs: nowMs } as const;
const platformMessageId = 'w'.repeat(256);
const told = { timestampMs: nowMs, code: 'c'.repeat(64), reason: '☃'.repeat(1_000), platformMessageId };
const pricing = { billable: true, pricing_model: 'P'.repeat(64), type: 't'.repeat(64), category: 'c'.repeat(64) };
const said = { matter: 'utility_templates', word: 'W'.repeat(64), code: '131064', atMs: nowMs } as const;
const outcome = (state: 'failed' | 'expired' | 'unknown') =>
  outcomeEvent(recipient, { state, code: '131026', reason: '☃'.repeat(1_000) }, nowMs);

const largest: readonly (ServiceEvent | undefined)[] = [
  ...createdEvents(announced, [receiverOf(row)], nowMs),
  ...statusChangedEvents(announced, [row], { sinceMs: 1, nowMs }),
  ...deletedEvents(announced, [row], nowMs),
  outcome('failed'),
  outcome('expired'),
  outcome('unknown'),
  ...(['message.held', 'message.resolved'] as const).map((type) => messageEvent(type, recipient, told)),
  ...(['message.sent', 'message.delivered', 'message.read'] as const).map((type) =>
    messageEvent(type, recipient, { ...told, pricing }),
  ),
  repliedEvent({
    word: {
      ...{ kind: 'reply', person: { waId: '9'.repeat(20), userId: `US.${'9'.repeat(128)}` }, receivedAtMs: nowMs },
      ...{ messageId: platformMessageId, reply: { by: 'text', text: '☃'.repeat(1_000) } },
    },
    did: about.did,
    clientId: 1001,
    answered: {
      head: makeDispatchHead({ templateName: longest.name, campaignId: 10, attends: about.attends }),
      index: 9_999,
    },
  }),
  parkedEvent(recipient, { ...parked, untilMs: nowMs }),
  resumedEvent(recipient, parked, nowMs),
  ...accountEvents({ wabaId: '200000000000001', clientIds: [1001] }, [
    { ...said, kind: 'restricted', untilMs: nowMs, remediation: '☃'.repeat(1_000) },
    { ...said, kind: 'restored' },
  ]),
  ...(['stopped', 'started'] as const).map((says) =>
    optOutEvent({
      ...{ clientId: 1001, recipients: ['5491155550001', `AR.${'1'.repeat(128)}`], did: about.did },
      ...{ scope: { kind: 'client', clientId: 1001 }, word: { says, atMs: nowMs, source: 'quick_reply' } },
      answered: { dispatchId: 'J', messageId: 'J-9999' },
    }),
  ),
  completedEvent(recipient, { held: 10_000, sent: 10_000, delivered: 10_000, read: 10_000, failed: 10_000 }, nowMs),
];

test('every kind of event is among them', () => {
  const shown = new Set<string | undefined>(largest.map((event) => event?.type));
  // These events hold numbers and times only, and no client data.
  const others = ['sync.completed', 'budget.reached', 'webhook.failing'];
  const remedy = 'add the largest event of the kind to `largest`, or the kind to `others` if it holds no client data';
  expect(
    eventTypes.filter((type) => !shown.has(type)),
    remedy,
  ).toEqual(others);
});

test.each(largest.map((event) => [event?.type, event] as const))('%s fits its schema and 20 KB', (_, event) => {
  expect(v.parse(ServiceEventSchema, event)).toEqual(event);
  expect(Buffer.byteLength(JSON.stringify(event))).toBeLessThan(20_000);
});

test('an event tells nothing that its schema does not name', () => {
  const [event] = createdEvents(announced, [receiverOf(row)], nowMs);
  expect(Object.keys(event?.data ?? {}).sort()).toEqual(
    ['category', 'language', 'name', 'platform_template_id', 'status', 'template_id', 'waba_id'].sort(),
  );
  expect(v.safeParse(ServiceEventSchema, { ...event, type: 'template.archived' }).success).toBe(false);
  expect(v.safeParse(ServiceEventSchema, { ...event, id: 'evt_1' }).success).toBe(false);
});

test.each([
  ['no reason', undefined],
  ['an empty one', ''],
  ['the word for none', 'NONE'],
])('a rejection with %s has no rejected_reason', (_, rejected_reason) => {
  const [event] = statusChangedEvents({ ...announced, rejected_reason }, [row], { sinceMs: 1, nowMs });
  expect(event?.data).not.toMatchObject({ rejected_reason: expect.anything() });
});

test('an id is 26 characters of base32, known forever, and differs with every fact', () => {
  expect(eventId('message.failed', 1001, ['J-0'])).toBe(eventId('message.failed', 1001, ['J-0']));
  const ids = [
    eventId('message.failed', 1001, ['J-0']),
    eventId('message.unknown', 1001, ['J-0']),
    eventId('message.failed', 1002, ['J-0']),
    eventId('message.failed', 1001, ['J-1']),
    eventId('message.failed', 1001, ['J', '-1']),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^evt_[a-z2-7]{26}$/);
});

test('an event of a client names no other client and none of its documents', () => {
  const theirs = makeRow({ clientId: 1002, name: longest.name });
  const [mine] = deletedEvents(announced, [row, theirs], nowMs);
  expect(JSON.stringify(mine)).not.toContain('1002');
  expect(JSON.stringify(mine)).not.toContain(theirs.documents[0]?.id);
});
