import { randomBytes } from 'node:crypto';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { idempotencyStore } from '../../../../lib/messages/accept/idempotency-store.ts';
import type { DispatchHead, Recipient } from '../../../../lib/messages/dispatch/head.ts';
import { paceKey } from '../../../../lib/messages/dispatch/items.ts';
import type { Outcome } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { replacedIdWriter } from '../../../../lib/messages/inbound/replaced-ids-store.ts';
import { recipientHashOf, unknownPace, withBlocked } from '../../../../lib/messages/pace/known-pace.ts';
import { itemOfPace } from '../../../../lib/messages/pace/known-pace-store.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import { receiptStore } from '../../../../lib/messages/receipts/receipt-store.ts';
import { optOutWriter } from '../../../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../../../lib/opt-outs/person-name.ts';
import { recordOptOut } from '../../../../lib/opt-outs/record-opt-out.ts';
import { backlogStore } from '../../../../lib/webhooks/delivery/backlog-store.ts';
import type { ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { eventRecordStore } from '../../../../lib/webhooks/event-record-store.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { makeDispatch, makeDispatchHead } from '../../../support/made-dispatches.ts';
import { claimOf } from '../../../support/reported-slices.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** The tables hold a person in every place (D60), beside others whose numbers contain the person's number. */

export const acceptedAtMs = Date.UTC(2026, 10, 20, 12);
export const nowMs = acceptedAtMs + 3_600_000;
export const [number, userId, oldId] = ['5491155550001', 'AR.1349ab', 'AR.older1'] as const;
export const others = ['549115555000', '54911555500012'] as const;
export const secret = 'Rosario-Castellanos';
export const words = [number, userId, oldId, secret];
export const key = randomBytes(32);
export const nameOf = personNames(key);
export const client = localDocumentClient();
export const pause = async () => undefined;

export interface Tables {
  readonly messages: string;
  readonly webhooks: string;
}

export const accessTo = ({ messages }: Tables) => tableOf(client, messages, { pause });

export const paramsFor = (to: string) => ({ body: [to === number || to === userId ? secret : `for ${to}`] });
export const recipientsOf = (...addresses: string[]): Recipient[] =>
  addresses.map((to) => ({ to, params: paramsFor(to) }));
export const many = (count: number) => Array.from({ length: count }, (_, at) => String(5_491_170_000_000 + at));

export function headOf(name: string, total: number, changes: Partial<DispatchHead> = {}): DispatchHead {
  return makeDispatchHead({ dispatchId: name.padEnd(26, '0'), acceptedAtMs, total, ...changes });
}
export const bulk = headOf('BULK', 1_203);
export const open = headOf('OPEN', 25);
export const elsewhere = headOf('ELSEWHERE', 12, { clientId: 1002 });
export const straight = headOf('STRAIGHT', 1, { attends: { order: secret }, byUserId: true });
export const platformId = `wamid.${Buffer.from(`\u0018\u0013${number}\u0015\u0002`).toString('base64')}`;

/** Stores a dispatch and begins it, as acceptance does. */
export async function accept({ messages }: Tables, head: DispatchHead, recipients: Recipient[]): Promise<void> {
  const dispatches = acceptedDispatchesStore(tableOf(client, messages, { nowMs: () => acceptedAtMs }));
  const dispatch = { ...makeDispatch(recipients), head };
  await dispatches.store(dispatch, new AbortController().signal);
  await beginListed(dispatches, { head, repeats: [] });
}

/** Ends a slice: its first recipient as given, the others `sent`. */
async function end(
  { messages }: Tables,
  of: { readonly head: DispatchHead; readonly slice: number },
  first: Outcome,
): Promise<void> {
  const slices = sliceStore(tableOf(client, messages, { nowMs: () => nowMs }));
  const { slice: own } = await slices.claim(claimOf(of.head, of.slice, { atMs: acceptedAtMs }));
  const outcomeAt = (place: number): Outcome =>
    place === 0 ? first : { state: 'sent', platformMessageId: `wamid.${of.slice}-${place}` };
  await slices.end(own, new Map(own.outcomes.map((_, place) => [place, outcomeAt(place)])));
}

export const eventOf = (id: string, head: DispatchHead, to: string, clientId = 1001): ServiceEvent => ({
  ...{ id: `evt_${id.padEnd(26, 'a')}`, clientId, type: 'message.failed', timestampMs: acceptedAtMs },
  data: {
    ...{ dispatch_id: head.dispatchId, message_id: `${head.dispatchId}-0`, did: head.did, to, code: '131026' },
    ...{ reason: `${to} cannot be reached`, template: { name: 'order_update', language: 'en_US' } },
    accepted_at: new Date(acceptedAtMs).toISOString(),
  },
});

export const told = { status: 'sent', atMs: acceptedAtMs + 1_000, platformMessageId: platformId } as const;

/** Stores the person and the others in new tables. */
export async function storePerson(): Promise<Tables> {
  const tables = { messages: await freshTable('messages'), webhooks: await freshTable('webhooks') };
  await storeDispatches(tables);
  await storeReceipts(tables);
  await storeTraces(tables);
  await storeStops(tables);
  await storeEvents(tables);
  return tables;
}

async function storeDispatches(tables: Tables): Promise<void> {
  await accept(tables, bulk, recipientsOf(...many(1_200), `+${number}`, ...others));
  const failed = { state: 'failed', code: '131026', reason: `${number} cannot be reached` } as const;
  await end(tables, { head: bulk, slice: 120 }, failed);
  await accept(tables, open, recipientsOf(...many(24), number));
  await accept(tables, elsewhere, recipientsOf(...many(11), number));
  const dispatches = acceptedDispatchesStore(tableOf(client, tables.messages, { nowMs: () => acceptedAtMs }));
  await dispatches.beginStraight({ head: straight, recipients: [{ to: userId }] });
  await end(tables, { head: straight, slice: 0 }, { state: 'sent', platformMessageId: platformId });
}

async function storeReceipts(tables: Tables): Promise<void> {
  const receipts: [DispatchHead, Receipt][] = [
    [straight, { ...told, dispatchId: straight.dispatchId, index: 0, userId, waId: number }],
    [bulk, { ...told, dispatchId: bulk.dispatchId, index: 1_200, userId }],
    [bulk, { ...told, dispatchId: bulk.dispatchId, index: 1, platformMessageId: 'wamid.other', userId: 'AR.other' }],
  ];
  for (const [head, receipt] of receipts) await receiptStore(accessTo(tables)).append(head, [receipt]);
}

/** Stores the warning of an Idempotency-Key, a replaced id, and the pair limits of the number. */
async function storeTraces(tables: Tables): Promise<void> {
  const scope = { clientId: 1001, did: bulk.did, key: 'order 1' };
  const record = {
    bodyHash: 'hash',
    dispatchId: straight.dispatchId,
    startedAtMs: acceptedAtMs,
    state: 'done',
  } as const;
  const warning = `user ids that the platform has replaced are followed: recipients[0] to ${userId}; something else`;
  await idempotencyStore(tableOf(client, tables.messages)).claim(scope, { ...record, warning });
  await replacedIdWriter(accessTo(tables))(bulk.wabaId, [{ userId: oldId, by: userId, atMs: acceptedAtMs }]);
  const pace = withBlocked(unknownPace, recipientHashOf(`+${number}`), nowMs, acceptedAtMs);
  const waiting = withBlocked(pace, recipientHashOf(others[0]), nowMs, acceptedAtMs);
  const paceItem = { ...paceKey('300000000000001'), ...itemOfPace(waiting), version: 1, writer: 'w' };
  await client.send(new PutCommand({ TableName: tables.messages, Item: paceItem }));
}

async function storeStops(tables: Tables): Promise<void> {
  const scope = { kind: 'client', clientId: 1001 } as const;
  const word = { says: 'stopped', atMs: acceptedAtMs, source: 'reply' } as const;
  for (const recipients of [[number, userId], [others[0]]]) {
    for (const listedFor of [1001, 1002]) {
      await recordOptOut({ scope, recipients, word, listedFor }, optOutWriter(accessTo(tables), nameOf));
    }
  }
}

async function storeEvents({ webhooks }: Tables): Promise<void> {
  const events = eventRecordStore(client, webhooks);
  await events.record(eventOf('mine', bulk, number));
  await events.record(eventOf('theirs', elsewhere, number, 1002));
  await events.record(eventOf('others', bulk, others[1]));
  const event = eventOf('waits', bulk, number);
  await backlogStore(client, webhooks).put({ event, attempts: 1, firstSeenMs: acceptedAtMs, dueMs: nowMs });
}
