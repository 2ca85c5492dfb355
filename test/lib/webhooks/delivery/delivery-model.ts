import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, GetCommand, type PutCommand } from '@aws-sdk/lib-dynamodb';
import { deliverBatch } from '../../../../lib/webhooks/delivery/deliver.ts';
import type { DeliverPorts, Receiver } from '../../../../lib/webhooks/delivery/deliver-ports.ts';
import { deliveryStateStore } from '../../../../lib/webhooks/delivery/delivery-state-store.ts';
import { encodePending, type Pending } from '../../../../lib/webhooks/delivery/pending.ts';
import type { Post } from '../../../../lib/webhooks/delivery/post-network.ts';
import { defaultEventTypes, type ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { deliveryKey } from '../../../../lib/webhooks/items.ts';
import { firstSecret } from '../../../support/delivery-world.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';

/** The event queue, what is stored of two clients and what their receivers had, as plain data; and the real delivery, call by call. */

export type CallName = 'record' | 'find' | 'read' | 'put' | 'post' | 'sendLater' | 'switchOff';

export interface Message {
  readonly id: number;
  readonly body: string;
  readonly visibleAtMs: number;
  /** A run has the latest delivery of it. */
  readonly held: boolean;
}

export interface Run {
  readonly owner: string;
  readonly startedAtMs: number;
  readonly messages: readonly Pick<Message, 'id' | 'body'>[];
  readonly replies: readonly Reply[];
  /** For each reply, whose call it was. */
  readonly answered: readonly { readonly clientId: number; readonly failed: boolean }[];
  /** The messages that must come again, once it has ended: how it came to that changes nothing any more. */
  readonly ended?: readonly string[];
}

/** What a receiver did with an event. */
export interface Had {
  /** 2xx, and a run was told so. */
  readonly taken: boolean;
  readonly posts: number;
  readonly firstPostMs?: number;
}

export interface Store {
  readonly messages: readonly Message[];
  readonly nextId: number;
  /** The item `DELIVERY` of each client. */
  readonly states: Readonly<Record<number, { readonly version: number }>>;
  readonly configs: Readonly<Record<number, { readonly version: number; readonly active: boolean }>>;
  readonly recorded: readonly string[];
  readonly had: Readonly<Record<string, Had>>;
  /** Where 410 was answered. */
  readonly gone: readonly string[];
}

export const secretOf = (version: number) =>
  version === 1 ? firstSecret : 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDCTxUYnPNNo0=';

/** Another one with each version of the configuration. */
export const urlOf = (clientId: number, version: number) => `https://example.com/${clientId}/${version}`;

const standings = new Map<string, Promise<Standing<string[], CallName>>>();

/** Where a run stands: the calls that it waits for, or the messages that must come again. */
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

/** Every call says first whose it is. */
export const clientOf = ({ args }: Call<CallName>) => args[0] as number;

function portsOf(owner: string, { call, nowMs }: Outside<CallName>): DeliverPorts {
  const [record, find, post, sendLater] = [call('record'), call('find'), call('post'), call('sendLater')];
  return {
    records: { record: (event) => record(event.clientId, event.id) },
    receivers: {
      find: async (clientId) => {
        const found: { readonly version: number; readonly active: boolean } = await find(clientId);
        return found.active ? receiverOf(clientId, found.version) : undefined;
      },
      switchOff: call('switchOff'),
    },
    states: deliveryStateStore({ client: documentsOf(call), table: 'webhooks', pause: async () => undefined }),
    queue: { sendLater: (pending, delaySeconds) => sendLater(pending.event.clientId, pending, delaySeconds) },
    post: (sent) => post(Number(sent.url.split('/').at(-2)), sent),
    newOwner: () => owner,
    nowMs,
    // Harsher than Lambda: a run is never stopped for lack of time.
    remainingMs: () => 60_000,
    random: () => 0.5,
    log: () => undefined,
  };
}

function receiverOf(clientId: number, version: number): Receiver {
  return { url: urlOf(clientId, version), version, wanted: defaultEventTypes, secrets: [secretOf(version)] };
}

/** The real store on a table of one item for each client. */
function documentsOf(call: Outside<CallName>['call']): DynamoDBDocumentClient {
  const [read, put] = [call('read'), call('put')];
  const send = async (command: GetCommand | PutCommand) => {
    if (command instanceof GetCommand) return { Item: await read(clientOfKey(command.input.Key)) };
    const { Item, ConditionExpression: condition, ExpressionAttributeValues: values } = command.input;
    const expected = condition === undefined ? 'any' : (values?.[':version'] ?? 0);
    const written: boolean = await put(clientOfKey(Item), Item, expected);
    if (!written) throw new ConditionalCheckFailedException({ message: 'it has changed', $metadata: {} });
    return {};
  };
  return { send } as unknown as DynamoDBDocumentClient;
}

function clientOfKey(key: Readonly<Record<string, unknown>> | undefined): number {
  const clientId = [1, 2].find((each) => deliveryKey(each).pk === key?.['pk']);
  if (clientId === undefined) throw new Error('an item of nobody');
  return clientId;
}

/** What a call does to what is stored, and what it answers. A post has the effect of an answer with 2xx. */
export function effectOf<S extends Store>(
  store: S,
  { name, args }: Call<CallName>,
  nowMs: number,
): { store: S; value?: unknown } {
  const clientId = args[0] as number;
  switch (name) {
    case 'record': {
      const recorded = [...new Set([...store.recorded, args[1] as string])].sort();
      return { store: { ...store, recorded } };
    }
    case 'find':
      return { store, value: store.configs[clientId] };
    case 'read':
      return { store, value: store.states[clientId] };
    case 'put': {
      const [, item, expected] = args as [number, { readonly version: number }, number | 'any'];
      const current = store.states[clientId]?.version ?? 0;
      if (expected !== 'any' && expected !== current) return { store, value: false };
      return { store: { ...store, states: { ...store.states, [clientId]: item } }, value: true };
    }
    case 'sendLater': {
      const [, pending, delaySeconds] = args as [number, Pending, number];
      const visibleAtMs = nowMs + delaySeconds * 1_000;
      const message = { id: store.nextId, body: encodePending(pending), visibleAtMs, held: false };
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

/** The receiver has the event once more; `taken` when it was told so in time. */
export function posted<S extends Store>(
  store: S,
  { headers }: Pick<Post, 'headers'>,
  nowMs: number,
  taken: boolean,
): S {
  const id = headers['webhook-id'] ?? '';
  const before = store.had[id] ?? { taken: false, posts: 0 };
  const had = { firstPostMs: nowMs, ...before, taken: before.taken || taken, posts: before.posts + 1 };
  return { ...store, had: { ...store.had, [id]: had } };
}

/** The event that a message of the queue is about. */
export function eventIn(body: string): ServiceEvent {
  const message = JSON.parse(body) as Pending | ServiceEvent;
  return 'event' in message ? message.event : message;
}

/** When it may be posted: a bare event at once. */
export function dueMsOf({ body, visibleAtMs }: Message): number {
  const message = JSON.parse(body) as Partial<Pending>;
  return Math.max(message.dueMs ?? 0, visibleAtMs);
}
