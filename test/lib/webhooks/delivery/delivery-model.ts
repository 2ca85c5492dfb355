import { isDeepStrictEqual } from 'node:util';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { maxDelaySeconds } from '../../../../lib/aws/queue-body.ts';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts, Receiver } from '../../../../lib/webhooks/delivery/deliver-ports.ts';
import type { DeliveryState } from '../../../../lib/webhooks/delivery/delivery-state.ts';
import { deliveryStateStore } from '../../../../lib/webhooks/delivery/delivery-state-store.ts';
import { decodeQueued, encodeWake, type Pending } from '../../../../lib/webhooks/delivery/pending.ts';
import type { Post } from '../../../../lib/webhooks/delivery/post-network.ts';
import { defaultEventTypes, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { deliveryKey, waitingKey } from '../../../../lib/webhooks/items.ts';
import { firstSecret } from '../../../support/delivery-world.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { versionedDocuments } from '../../../support/versioned-documents.ts';

/**
 * The event queue, two clients' stored state and their receivers are plain data, and the real delivery runs call by
 * call.
 */

export type CallName = 'record' | 'find' | 'read' | 'write' | 'post' | 'switchOff' | 'wake' | ListCall;
type ListCall = 'look' | 'place' | 'remove';

export interface Message {
  readonly id: number;
  readonly body: string;
  readonly visibleAtMs: number;
  /** A run holds the latest delivery. */
  readonly held: boolean;
}

export interface Run {
  readonly owner: string;
  readonly startedAtMs: number;
  readonly messages: readonly Pick<Message, 'id' | 'body'>[];
  readonly replies: readonly Reply[];
  /** Each reply answered a call of this client. */
  readonly answered: readonly { readonly clientId: number; readonly failed: boolean }[];
  /** These messages must come again after the end; how the run got there does not matter. */
  readonly ended?: readonly string[];
}

export interface Had {
  /** The receiver answered 2xx, and a run got the answer. */
  readonly taken: boolean;
  readonly posts: number;
  readonly firstPostMs?: number;
  /** The latest version of the configuration under which it was posted. */
  readonly version: number;
}

export type FailingEvent = Extract<ServiceEvent, { type: 'webhook.failing' }>;

export interface StateItem extends Partial<DeliveryState> {
  readonly version: number;
  readonly writer: string;
}

export interface Store {
  readonly messages: readonly Message[];
  readonly nextId: number;
  /** Each client has an item `DELIVERY`. */
  readonly states: Readonly<Record<number, StateItem>>;
  /** The events wait in this order. */
  readonly list: readonly Pending[];
  readonly configs: Readonly<Record<number, { readonly version: number; readonly active: boolean }>>;
  readonly recorded: readonly string[];
  /** The recorded events that tell of a failing receiver, each as often as it is another. */
  readonly failings: readonly FailingEvent[];
  readonly had: Readonly<Record<string, Had>>;
  /** These URLs answered 410. */
  readonly gone: readonly string[];
}

export const secretOf = (version: number) =>
  version === 1 ? firstSecret : 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDCTxUYnPNNo0=';

/** Each version of the configuration has another URL. */
export const urlOf = (clientId: number, version: number) => `https://example.com/${clientId}/${version}`;

const standings = new Map<string, Promise<Standing<string[], CallName>>>();

/** Returns a run's waiting calls, or the messages that must come again. */
export function standingOf({ owner, startedAtMs, messages, replies }: Run): Promise<Standing<string[], CallName>> {
  const key = JSON.stringify([owner, startedAtMs, messages, replies]);
  const deliveries = messages.map(({ id, body }) => ({ messageId: String(id), body }));
  const known =
    standings.get(key) ??
    standingAfter<string[], CallName>(
      (outside) => deliverBatch(deliveries, portsOf(owner, outside)),
      startedAtMs,
      replies,
    );
  standings.set(key, known);
  return known;
}

/** The first argument of every call is its client. */
export const clientOf = ({ args }: Call<CallName>) => args[0] as number;

type CallTo = Outside<CallName>['call'];

function portsOf(owner: string, { call, nowMs }: Outside<CallName>): DeliverPorts {
  const [record, post] = [call('record'), call('post')];
  return {
    records: { record: (event) => record(event.clientId, event) },
    receivers: receiversOf(call),
    states: deliveryStateStore({
      ...{ client: documentsOf(call), table: 'webhooks', pause: async () => undefined },
      newWriter: () => owner,
    }),
    list: listOf(call),
    queue: { sendLater: call('wake') },
    post: (sent) => post(Number(sent.url.split('/').at(-2)), sent),
    newOwner: () => owner,
    nowMs,
    // Lambda would stop a run that is out of time; here none is stopped, which is harder.
    remainingMs: () => 60_000,
    random: () => 0.5,
    log: () => undefined,
  };
}

function receiversOf(call: CallTo): DeliverPorts['receivers'] {
  const find = call('find');
  return {
    find: async (clientId) => {
      const found: { readonly version: number; readonly active: boolean } = await find(clientId);
      return found.active ? receiverOf(clientId, found.version) : undefined;
    },
    switchOff: call('switchOff'),
  };
}

function listOf(call: CallTo): DeliverPorts['list'] {
  const [look, place, remove] = [call('look'), call('place'), call('remove')];
  return {
    put: (pending) => place(pending.event.clientId, pending),
    remove: (pending) => remove(pending.event.clientId, pending),
    pages: async function* (clientId) {
      yield await look(clientId);
    },
  };
}

function receiverOf(clientId: number, version: number): Receiver {
  return { url: urlOf(clientId, version), version, wanted: defaultEventTypes, secrets: [secretOf(version)] };
}

/** The real store works on a table of one item for each client. */
function documentsOf(call: Outside<CallName>['call']): DynamoDBDocumentClient {
  const [read, write] = [call('read'), call('write')];
  return versionedDocuments({
    read: (key) => read(clientOfKey(key)),
    write: (item, expected) => write(clientOfKey(item), item, expected),
  });
}

function clientOfKey(key: Readonly<Record<string, unknown>>): number {
  const clientId = [1, 2].find((each) => deliveryKey(each).pk === key['pk']);
  if (clientId === undefined) throw new Error('an item of no client');
  return clientId;
}

/** A post has the effect of a 2xx answer. */
export function effectOf<S extends Store>(
  store: S,
  { name, args }: Call<CallName>,
  nowMs: number,
): { store: S; value?: unknown } {
  const clientId = args[0] as number;
  switch (name) {
    case 'record': {
      const event = args[1] as ServiceEvent;
      const recorded = [...new Set([...store.recorded, event.id])].sort();
      return { store: { ...store, recorded, failings: withFailing(store.failings, event) } };
    }
    case 'find':
      return { store, value: store.configs[clientId] };
    case 'read':
      return { store, value: store.states[clientId] };
    case 'write': {
      const [, item, expected] = args as [number, Store['states'][number], number];
      const current = store.states[clientId];
      // A missing item is overwritten by a writer that has seen one.
      if (current !== undefined && expected !== current.version) return { store, value: current };
      return { store: { ...store, states: { ...store.states, [clientId]: item } } };
    }
    case 'look':
      return { store, value: store.list.filter(({ event }) => event.clientId === clientId) };
    case 'place': {
      const pending = args[1] as Pending;
      const list = [...without(store.list, pending), pending].sort((one, other) =>
        placeOf(one) < placeOf(other) ? -1 : 1,
      );
      return { store: { ...store, list } };
    }
    case 'remove':
      return { store: { ...store, list: without(store.list, args[1] as Pending) } };
    case 'wake': {
      const delaySeconds = args[1] as number;
      // Only the last of many delays is played; in the others no event is due.
      const dues = store.list.filter(({ event }) => event.clientId === clientId).map(({ dueMs }) => dueMs);
      const skippedMs = delaySeconds < maxDelaySeconds ? 0 : Math.min(...dues, Number.MAX_SAFE_INTEGER);
      const visibleAtMs = Math.max(nowMs + delaySeconds * 1_000, dues.length === 0 ? 0 : skippedMs);
      const message = { id: store.nextId, body: encodeWake(clientId), visibleAtMs, held: false };
      return { store: { ...store, messages: [...store.messages, message], nextId: store.nextId + 1 } };
    }
    case 'switchOff': {
      const config = store.configs[clientId];
      if (config === undefined || config.version !== args[1] || !config.active) return { store, value: false };
      const off = { version: config.version + 1, active: false };
      return { store: { ...store, configs: { ...store.configs, [clientId]: off } }, value: true };
    }
    case 'post':
      return { store: posted(store, args[1] as Post, nowMs, true), value: { status: 200 } };
  }
}

function withFailing(failings: readonly FailingEvent[], event: ServiceEvent): readonly FailingEvent[] {
  if (event.type !== 'webhook.failing' || failings.some((each) => isDeepStrictEqual(each, event))) return failings;
  return [...failings, event];
}

/** The receiver gets the event once more; `taken` when its 2xx came in time. */
export function posted<S extends Store>(
  store: S,
  { headers, url }: Pick<Post, 'headers' | 'url'>,
  nowMs: number,
  taken: boolean,
): S {
  const id = headers['webhook-id'] ?? '';
  const before = store.had[id] ?? { taken: false, posts: 0, version: 0 };
  const version = Math.max(before.version, Number(url.split('/').at(-1)));
  const had = { firstPostMs: nowMs, ...before, taken: before.taken || taken, posts: before.posts + 1, version };
  return { ...store, had: { ...store.had, [id]: had } };
}

function without(list: readonly Pending[], pending: Pending): Pending[] {
  return list.filter((each) => placeOf(each) !== placeOf(pending));
}

function placeOf(pending: Pending): string {
  const { pk, sk } = waitingKey(pending);
  return `${pk} ${sk}`;
}

/** Returns the event of a queue message; undefined for a wake. */
export function eventIn(body: string): ServiceEvent | undefined {
  const queued = decodeQueued(body);
  return 'wakeClientId' in queued ? undefined : queued;
}

export function clientIn(body: string): number {
  const queued = decodeQueued(body);
  return 'wakeClientId' in queued ? queued.wakeClientId : queued.clientId;
}
