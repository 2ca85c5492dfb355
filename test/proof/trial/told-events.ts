import * as v from 'valibot';
import type { DemoClient } from '../../../infra/local/demo/client.ts';
import { receiverUrl, startWebhookReceiver } from '../../../infra/local/webhook-receiver.ts';
import { type EventType, eventId } from '../../../lib/webhooks/event.ts';
import type { ToldRecipient } from '../../support/send-audit.ts';

/** All that is unusual on the way of a message and a dispatch (D41, D46). */
const receivedKinds = [
  'message.failed',
  'message.expired',
  'message.unknown',
  'message.held',
  'message.resolved',
  'dispatch.completed',
  'dispatch.parked',
  'dispatch.resumed',
] as const;

const EventSchema = v.object({
  type: v.string(),
  data: v.object({
    dispatch_id: v.string(),
    message_id: v.optional(v.string()),
    counts: v.optional(v.record(v.string(), v.number())),
    total: v.optional(v.number()),
  }),
});

/** A receiver of several clients got these events, each id once. */
export interface ToldEvents {
  /** The client's events come here from now on. */
  hear(client: DemoClient): Promise<void>;
  readonly byId: ReadonlyMap<string, v.InferOutput<typeof EventSchema>>;
  /** Returns the deliveries with a wrong signature, or with a known id and another content. */
  readonly wrong: () => number;
  stop(): Promise<void>;
}

/** Receives posts to `receiverUrl`, and verifies them with the secrets of the clients that it hears. */
export async function receiveEvents(port: number): Promise<ToldEvents> {
  const secrets: string[] = [];
  const byId = new Map<string, v.InferOutput<typeof EventSchema>>();
  let wrong = 0;
  const receiver = await startWebhookReceiver(port, Promise.resolve(secrets), ({ webhookId, verified, body }) => {
    const event = v.parse(EventSchema, JSON.parse(body));
    const known = byId.get(webhookId);
    if (!verified || (known !== undefined && keyOf(known) !== keyOf(event))) wrong += 1;
    byId.set(webhookId, event);
    return undefined;
  });
  return {
    hear: async (client) => {
      secrets.push(await client.receiveEvents(receiverUrl, receivedKinds));
    },
    byId,
    wrong: () => wrong,
    stop: () => receiver.close(),
  };
}

function keyOf({ type, data }: v.InferOutput<typeof EventSchema>): string {
  return `${type} ${data.dispatch_id} ${data.message_id}`;
}

/** A report says which events must exist, and which must not. */
const typeOf = { failed: 'message.failed', expired: 'message.expired', unknown: 'message.unknown' } as const;

/**
 * Returns one sentence for each difference between the receiver's events and the rows of the reports. `dispatches` has
 * the client and the recipients of each dispatch.
 */
export function eventFaults(
  { byId, wrong }: Pick<ToldEvents, 'byId' | 'wrong'>,
  told: readonly ToldRecipient[],
  dispatches: ReadonlyMap<string, { readonly clientId: number; readonly total: number }>,
): string[] {
  const clientOf = (messageId: string) => dispatches.get(messageId.slice(0, messageId.lastIndexOf('-')))?.clientId ?? 0;
  const has = (type: EventType, messageId: string) => byId.has(eventId(type, clientOf(messageId), [messageId]));
  const missing = told.filter(({ state, messageId }) => {
    const type = typeOf[state as keyof typeof typeOf];
    return type !== undefined && !has(type, messageId);
  });
  const denied = told.filter(({ state, messageId }) => {
    const others = Object.entries(typeOf).filter(([of]) => of !== state && of !== 'unknown');
    return others.some(([, type]) => has(type, messageId));
  });
  const unsettled = told.filter(
    ({ state, messageId }) =>
      state !== 'unknown' && has('message.unknown', messageId) && !has('message.resolved', messageId),
  );
  const incomplete = [...dispatches].filter(([dispatchId, { clientId, total }]) => {
    const completed = byId.get(eventId('dispatch.completed', clientId, [dispatchId]));
    const counted = Object.values(completed?.data.counts ?? {}).reduce((sum, count) => sum + count, 0);
    return completed?.data.total !== total || counted !== total || completed.data.counts?.['pending'] !== 0;
  });
  const foreign = [...byId.values()].filter(({ data }) => !dispatches.has(data.dispatch_id));
  const some = (recipients: readonly ToldRecipient[]) =>
    recipients
      .slice(0, 5)
      .map(({ messageId, state }) => `${messageId} ${state}`)
      .join(', ');
  return [
    ...(wrong() === 0 ? [] : [`${wrong()} events had a wrong signature, or the id of another`]),
    ...(missing.length === 0 ? [] : [`${missing.length} endings were not told as events: ${some(missing)}`]),
    ...(denied.length === 0 ? [] : [`${denied.length} events say otherwise than the report: ${some(denied)}`]),
    ...(unsettled.length === 0
      ? []
      : [`${unsettled.length} were told unknown, and not what it became: ${some(unsettled)}`]),
    ...(incomplete.length === 0 ? [] : [`${incomplete.length} dispatches were not told as completed, or not whole`]),
    ...(foreign.length === 0 ? [] : [`${foreign.length} events are of no dispatch of this run`]),
  ];
}
