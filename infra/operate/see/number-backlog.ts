import { batchGet, type Item } from '../../../lib/aws/dynamodb-batch.ts';
import type { Table } from '../../../lib/aws/table.ts';
import type { BacklogEntry } from '../../../lib/messages/dispatch/backlog.ts';
import { type DispatchItem, dispatchItemIn, headIn, standingIn, stateOf } from '../../../lib/messages/dispatch/item.ts';
import { breakerKey, dispatchKey, holdsKey, senderKey } from '../../../lib/messages/dispatch/items.ts';
import type { Breaker } from '../../../lib/messages/holds/breaker.ts';
import { breakerOf } from '../../../lib/messages/holds/breaker-store.ts';
import { type Holds, holdsOn, noAnswerCode } from '../../../lib/messages/holds/hold.ts';
import { holdsOf } from '../../../lib/messages/holds/hold-store.ts';
import { backlogStore } from '../../../lib/messages/sender/backlog-store.ts';
import { dueMsOfEntry } from '../../../lib/messages/sender/entry-progress.ts';
import { recipientsLeft } from '../../../lib/messages/sender/left-in-entry.ts';
import { sendersOf } from '../../../lib/messages/sender/number-parts.ts';
import type { SenderState } from '../../../lib/messages/sender/sender-ports.ts';
import { senderStateOf } from '../../../lib/messages/sender/sender-state-store.ts';
import type { Service } from '../../../lib/messages/sender/served-least.ts';

/** Why nothing of a dispatch leaves at the moment. The words are stable: programs read them. */
export type WaitsFor = 'turn' | 'time' | 'hold' | 'poison' | 'acceptance' | 'end';

export interface Waiting {
  readonly entry: BacklogEntry;
  /** About so many have not been called; undefined while the dispatch has not begun. */
  readonly left: number | undefined;
  readonly dueMs: number;
  readonly waitsFor: WaitsFor;
  /** The code of the hold. */
  readonly code?: string | undefined;
  /** Runs that could do nothing with it. */
  readonly failures: number;
}

export interface NumberBacklog {
  /** What the leases of its senders say, by part. */
  readonly senders: readonly SenderState[];
  /** In the order in which they would be served, if all were due. */
  readonly waiting: readonly Waiting[];
}

export interface BacklogOfNumber {
  of(number: {
    readonly phoneNumberId: string;
    readonly wabaId: string;
    readonly limitPerSecond: number;
  }): Promise<NumberBacklog>;
}

/** Reads leases, entries and their dispatches strongly, as the senders of a number see them. */
export function backlogOfNumber(table: Pick<Table, 'client' | 'name' | 'nowMs' | 'pause'>): BacklogOfNumber {
  return {
    of: async ({ phoneNumberId, wabaId, limitPerSecond }) => {
      const leases = Array.from({ length: sendersOf(limitPerSecond) }, (_, part) => senderKey({ phoneNumberId, part }));
      const entries = await backlogStore(table).of(phoneNumberId);
      const dispatches = entries.map(({ dispatchId }) => dispatchKey(dispatchId));
      const keys = [breakerKey, holdsKey(wabaId), ...leases, ...dispatches];
      const found = new Map((await batchGet(table, keys, { consistent: true })).map((item) => [item['pk'], item]));
      const itemOf = ({ pk }: { readonly pk: string }): Item | undefined => found.get(pk);
      const held = { holds: holdsOf(itemOf(holdsKey(wabaId))), breaker: breakerOf(itemOf(breakerKey)) };
      const senders = leases.map((key) => senderStateOf(itemOf(key)));
      const waiting = entries.map((entry) =>
        waitingOf(entry, dispatchItemIn(itemOf(dispatchKey(entry.dispatchId)) ?? {}), held, table.nowMs()),
      );
      return { senders, waiting: inOrder(waiting, senders[0]?.service ?? {}) };
    },
  };
}

/** Says what a dispatch of the backlog waits for. */
export function waitingOf(
  entry: BacklogEntry,
  item: DispatchItem,
  { holds, breaker }: { readonly holds: Holds; readonly breaker: Breaker },
  nowMs: number,
): Waiting {
  const head = headIn(item);
  const { stop } = stateOf(item);
  const failures = Math.max(0, ...(entry.parts ?? []).map((part) => part.failures ?? 0));
  const dueMs = dueMsOfEntry(entry);
  const known = { entry, dueMs, failures, left: head && recipientsLeft(entry, head) };
  if (standingIn(item) !== 'begun' || head === undefined) return { ...known, waitsFor: 'acceptance' };
  if (stop !== undefined) return { ...known, waitsFor: 'end' };
  if (dueMs > nowMs) return { ...known, waitsFor: failures > 0 ? 'poison' : 'time' };
  if (breaker.open !== undefined) return { ...known, waitsFor: 'hold', code: noAnswerCode };
  const [widest] = holdsOn(holds, head);
  return widest === undefined ? { ...known, waitsFor: 'turn' } : { ...known, waitsFor: 'hold', code: widest.hold.code };
}

/** What is in front is first, then the client that was served least; a client that waits since now is next. */
export function inOrder(waiting: readonly Waiting[], service: Service): readonly Waiting[] {
  const place = ({ entry: { front, clientId } }: Waiting) => (front ? -1 : (service[String(clientId)] ?? 0));
  return waiting.toSorted((one, other) => place(one) - place(other));
}
