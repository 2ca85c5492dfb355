import * as v from 'valibot';
import { type EventType, ServiceEventSchema } from '../../lib/webhooks/event.ts';
import { sampleEvent } from '../local/demo/sample-event.ts';
import { demo } from './examples.ts';

const summaries: Readonly<Record<EventType, string>> = {
  'template.created': 'A template was created through the service',
  'template.status_changed': 'Status or category of a template is not what it was',
  'template.deleted': 'A template is gone',
  'sync.completed': 'A synchronization has come to its end',
  'message.failed': 'A message was refused for good, retried in vain, cancelled, or failed by receipt',
  'message.expired': 'A message could not be handed over in time',
  'message.unknown': 'It is not known whether a message was sent',
  'message.held': 'The platform took a message and holds it back',
  'message.sent': 'A receipt says that a message was sent',
  'message.delivered': 'A receipt says that a message was delivered',
  'message.read': 'A receipt says that a message was read',
  'message.resolved': 'A receipt or a late worker proves that a message which was unknown was taken',
  'message.replied': 'A person has answered a message, or written to the number',
  'dispatch.parked': 'What is left of a dispatch waits: its template, its number, its WABA or the platform is held',
  'dispatch.resumed': 'A dispatch that waited goes on: a message has left again',
  'dispatch.completed': 'Nothing of a dispatch is pending any more',
  'account.restricted': 'The platform has restricted a WABA, or what is UTILITY of it, or will',
  'account.restored': 'The platform has taken a restriction of a WABA back',
  'recipient.opted_out': 'A person wants no marketing any more',
  'recipient.opted_in': 'A person who wanted no marketing wants it again',
  'budget.reached': 'Of the budget of a month 80 or 100 percent is spent or reserved',
  'webhook.failing': 'The receiver of the client has only failed for 15 minutes or more',
};

const subject = { clientId: demo.clientId, did: demo.did, wabaId: demo.wabaId };
const moment = { dispatchId: demo.dispatchId, nowMs: Date.UTC(2026, 10, 22, 10, 0, 10) };

export const events = ServiceEventSchema.options.map(({ entries }) => {
  const type = entries.type.literal;
  const { data, timestampMs } = sampleEvent(type, subject, moment);
  return {
    type,
    summary: summaries[type],
    schema: v.object({ type: v.literal(type), timestamp: v.pipe(v.string(), v.isoTimestamp()), data: entries.data }),
    example: { type, timestamp: new Date(timestampMs).toISOString(), data },
  };
});

/** Returns the schema name of an event's body: `MessageFailedEvent` for `message.failed`. */
export function eventSchemaName(type: EventType): string {
  const words = type.split(/[._]/).map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Event`;
}

/** Every delivery has these headers (Standard Webhooks 1.0). */
export const deliveryHeaders: Readonly<
  Record<string, { readonly description: string; readonly schema: v.GenericSchema }>
> = {
  'webhook-id': {
    description: 'The id of the event, the same at every attempt: drop one that you have seen.',
    schema: v.pipe(v.string(), v.regex(/^evt_[a-z2-7]{26}$/)),
  },
  'webhook-timestamp': {
    description: 'The time of the attempt, in seconds.',
    schema: v.pipe(v.number(), v.integer()),
  },
  'webhook-signature': {
    description:
      'v1,<base64> of the HMAC-SHA256 of <id>.<timestamp>.<body>, one for each valid secret, blanks between them.',
    schema: v.pipe(v.string(), v.regex(/^v1,\S+( v1,\S+)*$/)),
  },
};
