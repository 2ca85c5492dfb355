import type { CallFacts } from '../../../../../lib/messages/dispatch/call-facts.ts';
import type { MessageKey } from '../../../../../lib/messages/dispatch/head.ts';
import { aboutDispatch } from '../../../../../lib/messages/dispatch/head.ts';
import {
  lost,
  type Outcome,
  type Slice,
  type SliceClaim,
  type SliceKey,
} from '../../../../../lib/messages/dispatch/slice.ts';
import { processReceipts } from '../../../../../lib/messages/receipts/process-receipts.ts';
import type { Receipt, ReceiptMessage } from '../../../../../lib/messages/receipts/receipt.ts';
import type { ReceiptPorts } from '../../../../../lib/messages/receipts/receipt-ports.ts';
import { outcomesOf } from '../../../../../lib/messages/report/outcome.ts';
import { resolveUnknown } from '../../../../../lib/messages/report/resolve-unknown.ts';
import type { SliceLook } from '../../../../../lib/messages/send/claims/run-slice.ts';
import { eventsOfEndings } from '../../../../../lib/messages/send/ending-events.ts';
import { defaultEventTypes, type ServiceEvent } from '../../../../../lib/webhooks/event.ts';
import { noStops } from '../../../../support/memory-opt-outs.ts';
import { withdrawnDispatch } from '../../../../support/messages-table/dispatch-item.ts';
import { sliceWrites } from '../../../../support/messages-table/slice-item.ts';
import { writtenBy } from '../../../../support/messages-table/written.ts';
import { noCosts } from '../../../../support/no-costs.ts';
import { type Call, type Outside, type Reply, standingAfter } from '../../../../support/replayed-run.ts';
import { scenarioHead } from '../../../../support/scenario-dispatch.ts';
import { type Chunk, type ChunkEnd, type ChunkPorts, type RecipientEnding, runChunk } from './tried-slices.ts';

export const claimLifeMs = 90_000;
export const dispatchId = '01JD0000000000000000000000';
export const startMs = 1_800_000_000_000;

export const platformEffects = {
  accepted: { accepts: true, outcome: { state: 'sent', platformMessageId: 'wamid' } },
  held: { accepts: true, outcome: { state: 'sent', platformMessageId: 'wamid', held: 'paused' } },
  refused: { accepts: false, outcome: { state: 'failed', code: '131026' } },
  throttled: { accepts: false, outcome: { state: 'again', dueMs: startMs } },
  lost_before: { accepts: false, outcome: { state: 'unknown', code: 'no_answer' } },
  lost_after: { accepts: true, outcome: { state: 'unknown', code: 'no_answer' } },
  /** This contradicts the platform's documentation; receipts reveal it. */
  throttled_yet_taken: { accepts: true, outcome: { state: 'again', dueMs: startMs } },
} as const satisfies Record<string, { readonly accepts: boolean; readonly outcome: Outcome }>;
export type PlatformEffect = keyof typeof platformEffects;

/** With `again_late` the SDK repeats a try, and the first one lands later. */
export type Effect = 'ok' | 'fails' | 'reply_lost' | 'repeated' | 'lands_late' | 'again_late';

/** This state outlives a run. */
export interface Store {
  readonly slices: Readonly<Record<string, Slice>>;
  readonly doubtful: boolean;
  /** These indexes of recipients have a stored receipt. */
  readonly receipts: readonly number[];
  /** The value is undefined until acceptance tries to take the dispatch back. */
  readonly withdrawn?: boolean;
  readonly stopped: boolean;
  /** Each event is `<index> <kind>`. */
  readonly told: readonly string[];
  readonly toldAtMs: Readonly<Record<string, number>>;
  /** The calls are in order; `wrong` says why the claim did not allow one. */
  readonly calls: readonly { readonly index: number; readonly effect: PlatformEffect; readonly wrong?: string }[];
  /** A run did what it must never do. */
  readonly wrongs: readonly string[];
  /** Each try keeps the facts of its claim, by slice and owner. */
  readonly claims: Readonly<Record<string, Pick<Store, 'stopped' | 'receipts'>>>;
}

export const emptyStore: Store = {
  slices: {},
  doubtful: false,
  receipts: [],
  stopped: false,
  told: [],
  toldAtMs: {},
  calls: [],
  wrongs: [],
  claims: {},
};

/** A body is a message of the dispatch queue, or a batch of the receipt queue's messages, one for each recipient. */
export type Body =
  | { readonly kind: 'chunk'; readonly chunk: Chunk }
  | { readonly kind: 'receipts'; readonly indexes: readonly number[] }
  /** An operator settles a message by hand. */
  | { readonly kind: 'operator'; readonly index: number; readonly state: 'sent' | 'failed' };

/** A batch of receipts ends with the messages that come again. */
export type RunEnd = ChunkEnd | { readonly kind: 'left'; readonly indexes: readonly number[] };

export interface Start {
  readonly body: Body;
  readonly owner: string;
  readonly nowMs: number;
}

/** Returns the state of a delivery's run after these replies. */
export function standingOf({ body, owner, nowMs }: Start, replies: readonly Reply[]) {
  const run = async (outside: Outside<string>): Promise<RunEnd> => {
    if (body.kind === 'receipts') return await recordReceipts(body.indexes, outside);
    if (body.kind === 'operator') return await settledByHand(body, outside);
    return await runChunk(body.chunk, owner, chunkPorts(outside));
  };
  return standingAfter(run, nowMs, replies);
}

/** A reply holds a look's result as plain data. */
type Looked = Pick<SliceLook, 'ofDead'> & { readonly heldBack?: Outcome; readonly proven: readonly number[] };

function chunkPorts({ call, nowMs }: Outside<string>): ChunkPorts {
  const proven = call('proven') as (key: SliceKey) => Promise<readonly number[]>;
  const look = call('look') as (claim: SliceClaim) => Promise<Looked>;
  return {
    slices: {
      claim: call('claim'),
      end: call('end'),
      endUncalled: call('endUncalled'),
      endForTheDead: call('endForTheDead'),
      settle: call('settle'),
      find: call('findSlice'),
    },
    look: async (claim) => {
      const { heldBack, proven: places, ofDead } = await look(claim);
      return { heldBack: async () => heldBack, proven: new Set(places), barred: new Map(), ofDead };
    },
    markUnknown: call('markUnknown'),
    proven: async ({ key }) => new Set(await proven(key)),
    call: call('call'),
    emit: async (endings, slices) => await call('tell')(endings, slices, nowMs()),
    queueAgain: call('queueAgain'),
    nowMs,
    mayRepeat: async (times) => times < 3,
    claimLifeMs,
    retryMs: nowMs,
  };
}

/** After an error the operator looks and tries again. */
async function settledByHand(
  { index, state }: Extract<Body, { kind: 'operator' }>,
  { call, nowMs }: Outside<string>,
): Promise<RunEnd> {
  const find = call('findMessage') as (key: MessageKey) => Promise<{ slice: Slice | undefined; isProven: boolean }>;
  const read = async (key: MessageKey) => {
    const askedAtMs = nowMs();
    const { slice, isProven } = await find(key);
    const slices = new Map(slice === undefined ? [] : [[slice.key.slice, slice]]);
    const proofs = new Map(
      isProven ? [[key.index, { proof: 'delivered', receipt: receiptOf(key.index) } as const]] : [],
    );
    const outcome = outcomesOf({ head: { dispatchId } }, { slices, proofs, askedAtMs })?.(key.index);
    return { slice, outcome: outcome ?? { state: 'pending' as const } };
  };
  const slices = { settle: call('settle'), endForTheDead: call('endForTheDead') };
  const ports = { read, slices, markUnknown: call('markUnknown'), nowMs };
  await resolveUnknown({ dispatchId, index }, state, ports).catch((error: unknown) => {
    if (!(error instanceof Error) || error.message !== 'unavailable') throw error;
  });
  return { kind: 'acknowledged' };
}

async function recordReceipts(indexes: readonly number[], outside: Outside<string>): Promise<RunEnd> {
  const batch = indexes.map((index) => ({ messageId: String(index), body: JSON.stringify(receiptMessage(index)) }));
  const left = await processReceipts(batch, receiptPorts(outside));
  return left.length === 0 ? { kind: 'acknowledged' } : { kind: 'left', indexes: left.map(Number) };
}

function receiptMessage(index: number): ReceiptMessage {
  const { wabaId, phoneNumberId } = scenarioHead;
  return { version: 1, numbers: [{ wabaId, phoneNumberId, receipts: [receiptOf(index)] }] };
}

function receiptOf(index: number): Receipt {
  return { dispatchId, index, status: 'delivered', atMs: startMs, platformMessageId: 'wamid' };
}

/** Reads that nothing in this world changes are answered at once. */
function receiptPorts({ call, nowMs }: Outside<string>): ReceiptPorts {
  const isDoubtful = call('isDoubtful') as () => Promise<boolean>;
  return {
    records: {
      findHeads: async () => new Map([[dispatchId, { ...scenarioHead, dispatchId }]]),
      append: async (_, receipts) => await call('append')(receipts.map(({ index }) => index)),
      dispatchesWithUnknown: async (dispatchIds) => new Set((await isDoubtful()) ? dispatchIds : []),
      ofGroup: async () => [],
    },
    slices: { findAll: call('findAll') },
    addressesOf: async () => new Map(),
    changeHolds: async () => undefined,
    inbound: noStops.inbound,
    countCost: noCosts.countCost,
    wanted: async () => defaultEventTypes,
    events: { send: async (events) => await call('tellReceipts')(events.map(toldOf)) },
    nowMs,
    remainingMs: () => 60_000,
    log: () => undefined,
  };
}

/** Applies a call to the stored state, as the stores must on DynamoDB. */
export function applied(
  store: Store,
  { name, args }: Pick<Call, 'name' | 'args'>,
): { readonly store: Store; readonly value: unknown } {
  const at = (key: SliceKey): Slice | undefined => store.slices[String(key.slice)];
  if (name in sliceWrites) {
    const [{ key }] = args as [SliceClaim];
    const { item, value } = writtenBy(sliceWrites, name, at(key), args);
    if (item === undefined || item === at(key)) return { store, value };
    const slices = { ...store.slices, [String(key.slice)]: item };
    return { store: { ...store, slices, ...(name === 'claim' ? withClaim(store, item) : {}) }, value };
  }
  switch (name) {
    case 'look': {
      const [claim] = args as [SliceClaim];
      const heldBack = store.stopped ? { state: 'failed', code: 'cancelled' } : undefined;
      return { store, value: { heldBack, ofDead: lost, proven: claim.try === 0 ? [] : provenOf(store, claim.key) } };
    }
    case 'proven':
      return { store, value: provenOf(store, args[0] as SliceKey) };
    case 'markUnknown':
      return { store: { ...store, doubtful: true }, value: undefined };
    case 'isDoubtful':
      return { store, value: store.doubtful };
    case 'findSlice':
      return { store, value: at(args[0] as SliceKey) };
    case 'findAll':
      return { store, value: (args[0] as readonly SliceKey[]).flatMap((key) => at(key) ?? []) };
    case 'append': {
      const [indexes] = args as [readonly number[]];
      return {
        store: { ...store, receipts: [...new Set([...store.receipts, ...indexes])].toSorted() },
        value: undefined,
      };
    }
    case 'findMessage': {
      const [{ index }] = args as [MessageKey];
      const slice = store.slices[String(Math.floor(index / 10))];
      return { store, value: { slice, isProven: store.receipts.includes(index) } };
    }
    case 'tell': {
      const [endings, slices, nowMs] = args as [readonly RecipientEnding[], readonly Slice[], number];
      return {
        store: withTold(store, eventsOfEndings(toldDispatch, endings, { slices, nowMs }).map(toldOf)),
        value: undefined,
      };
    }
    case 'tellReceipts': {
      const [told] = args as [readonly Told[]];
      return { store: withTold(store, told), value: undefined };
    }
    default:
      throw new Error(`${name} is no call of the store`);
  }
}

/** Acceptance takes the dispatch back, unless a worker has claimed it. */
export function withWithdrawal(store: Store): Store {
  const { slice, value } = withdrawnDispatch({ dispatch: undefined, slice: store.slices['0'] }, dispatchId, startMs);
  return { ...store, withdrawn: value === 'withdrawn', ...(slice === undefined ? {} : { slices: { 0: slice } }) };
}

/** Records the facts at the claim of the try. */
function withClaim({ stopped, receipts, claims }: Store, { key, owner }: Slice): Pick<Store, 'claims'> {
  return { claims: { ...claims, [`${key.slice} ${owner}`]: { stopped, receipts } } };
}

/** The dispatch is alone in its chunk, as its events show. */
const toldDispatch = {
  ...scenarioHead,
  dispatchId,
  about: aboutDispatch(scenarioHead),
  alone: true,
} as unknown as CallFacts;

type Told = readonly [event: string, atMs: number];

/** Spells the events of messages as `<index> <kind>`, and `dispatch completed`. */
function toldOf({ type, data, timestampMs }: ServiceEvent): Told {
  const [, kind] = type.split('.');
  const isOfMessage = 'message_id' in data && data.message_id !== undefined;
  return [isOfMessage ? `${data.message_id?.split('-')[1]} ${kind}` : `dispatch ${kind}`, timestampMs];
}

/** Keeps the times of what clients must be able to order: the latest `unknown`, and the first `resolved`. */
function withTold(store: Store, events: readonly Told[]): Store {
  const toldAtMs = { ...store.toldAtMs };
  for (const [event, atMs] of events) {
    if (event.endsWith(' unknown')) toldAtMs[event] = Math.max(toldAtMs[event] ?? atMs, atMs);
    if (event.endsWith(' resolved')) toldAtMs[event] = Math.min(toldAtMs[event] ?? atMs, atMs);
  }
  return { ...store, told: [...new Set([...store.told, ...events.map(([event]) => event)])].toSorted(), toldAtMs };
}

function provenOf({ receipts }: Store, { slice }: SliceKey): number[] {
  return receipts.filter((index) => Math.floor(index / 10) === slice).map((index) => index % 10);
}
