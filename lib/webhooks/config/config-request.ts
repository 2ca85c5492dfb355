import * as v from 'valibot';
import { ClientIdJson, ClientIdText } from '../../access/operating-client.ts';
import { boundedList, closedObject } from '../../http/closed-object.ts';
import { didYouMean } from '../../http/closest-name.ts';
import { documentedAs } from '../../http/documented.ts';
import { butReceived } from '../../http/json-excerpt.ts';
import { clip } from '../../http/parse.ts';
import { publicHttpsUrlFault } from '../../http/public-url.ts';
import { type EventType, EventTypeWord, eventTypes } from '../event.ts';

const ReceiverUrl = v.pipe(
  v.string(butReceived('url must be a text')),
  v.rawCheck(({ dataset, addIssue }) => {
    const fault = dataset.typed && dataset.value !== '' ? receiverUrlFault(dataset.value) : undefined;
    if (fault !== undefined) addIssue({ message: `url ${fault}` });
  }),
  v.minLength(1, 'url is required'),
);

const EventKind = v.pipe(
  v.string(butReceived('events must be a list of kinds of event')),
  v.rawCheck(({ dataset, addIssue }) => {
    if (!dataset.typed || eventTypes.includes(dataset.value)) return;
    const hint = didYouMean(dataset.value, eventTypes);
    addIssue({ message: `events: ${clip(dataset.value)} is no kind of event${hint}` });
  }),
  v.transform((type) => type as EventType),
  documentedAs(() => EventTypeWord),
);

/** There are fewer kinds, and so many are quick to compare. */
const maxEvents = 100;

/** `client_id` is checked together with the query's (D4). */
export const WebhookConfigPutBody = closedObject({
  url: ReceiverUrl,
  active: v.optional(v.boolean(butReceived('active must be true or false'))),
  /** Duplicates count once. */
  events: v.optional(
    v.pipe(
      boundedList(EventKind, maxEvents),
      v.transform((types) => [...new Set(types)]),
    ),
  ),
  client_id: ClientIdJson,
});
export const WebhookConfigPutQuery = v.object({ client_id: ClientIdText });
/** A PUT may ask for a new signing secret. */
export const WebhookConfigPutHeaders = v.object({
  'Webhook-Secret-Rotate': v.optional(
    v.picklist(['true', 'false'], butReceived('Webhook-Secret-Rotate must be true or false')),
  ),
});

/** Deliveries go to these ports (D34); the empty text is the default port of https. */
const receiverPorts = new Set(['', '8443']);

function receiverUrlFault(text: string): string | undefined {
  return publicHttpsUrlFault(text) ?? (receiverPorts.has(new URL(text).port) ? undefined : 'must use port 443 or 8443');
}
