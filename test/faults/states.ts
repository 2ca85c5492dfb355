import type { DispatchMessage } from '../../lib/messages/job.ts';
import { dispatchIdOf } from '../../lib/messages/job.ts';
import type { ReceiptMessage } from '../../lib/messages/receipts/receipt.ts';
import { emptyStore, type StoreState } from './model-store.ts';
import type { Scenario } from './scenario.ts';
import type { Answered, Op, Role, Start } from './stepped-run.ts';

export interface Queued {
  readonly id: number;
  /** The queue that it is in, by whose runs work it off. */
  readonly role: Role;
  readonly body: string;
  /** In flight while a worker holds the latest delivery of it. */
  readonly visible: boolean;
  readonly deliveries: number;
}

export interface Worker extends Start {
  /** What its clock says more than the time. */
  readonly skewMs: number;
  readonly holds: readonly { readonly id: number; readonly delivery: number }[];
  readonly answered: readonly Answered[];
  /** Calls that wait for a reply now, and how the run ended once none does. */
  readonly open: readonly Op[];
  readonly ended: readonly number[] | undefined;
}

/** A whole state of the world as plain data; two equal ones have the same future. */
export interface State {
  readonly nowMs: number;
  readonly store: StoreState;
  readonly queue: readonly Queued[];
  /** Writes whose callers were told of a time-out, and which are on their way. */
  readonly inFlight: readonly InFlight[];
  readonly nextId: number;
  readonly workers: readonly (Worker | null)[];
  readonly runs: number;
  readonly deliveriesLeft: Readonly<Record<Role, number>>;
  readonly faultsLeft: number;
  /** How often time has passed. */
  readonly waited: number;
  /** A run has taken longer than it may. */
  readonly killed: boolean;
  /** Messages for which a run of receipts has ended well. */
  readonly proven: readonly string[];
  /** What runs did in one moment that they must never do; nothing of it can be told from what is stored. */
  readonly wrongs: readonly string[];
}

export interface InFlight {
  readonly op: Op;
  readonly sinceMs: number;
}

export function initialState(scenario: Scenario): State {
  const { messages, startMs, faults, deliveries, receipts, operator } = scenario;
  return {
    nowMs: startMs,
    store: emptyStore,
    queue: messages.map((message, id) => queuedAs('dispatch', id, JSON.stringify(message))),
    inFlight: [],
    deliveriesLeft: { dispatch: deliveries, receipts: receipts?.deliveries ?? 0, operator: operator?.looks ?? 0 },
    nextId: messages.length,
    workers: rolesOf(scenario).map(() => null),
    runs: 0,
    faultsLeft: faults,
    waited: 0,
    killed: false,
    proven: [],
    wrongs: [],
  };
}

/** Which worker works off which queue. */
export function rolesOf({ receipts, operator }: Scenario): Role[] {
  const dispatch = Array<Role>(receipts?.dispatchRuns ?? 2).fill('dispatch');
  const others: Role[] = operator === undefined ? [] : ['operator'];
  return [...dispatch, ...Array<Role>(receipts?.runs ?? 0).fill('receipts'), ...others];
}

export function queuedAs(role: Role, id: number, body: string): Queued {
  return { id, role, body, visible: true, deliveries: 0 };
}

export function withWorker(state: State, index: number, worker: Worker | null): State {
  return { ...state, workers: state.workers.with(index, worker) };
}

export function workerAt(state: State, index: number): Worker {
  const worker = state.workers[index];
  if (!worker) throw new Error(`worker ${index} is idle`);
  return worker;
}

/** The message of a body of the dispatch queue: written by us, and read so often that it is not parsed as the service does. */
export function messageIn(body: string): DispatchMessage {
  return JSON.parse(body) as DispatchMessage;
}

/** The messages that a body of the receipt queue has receipts of. */
export function idsIn(body: string): string[] {
  const { numbers } = JSON.parse(body) as ReceiptMessage;
  return numbers.flatMap(({ receipts }) => receipts.map(dispatchIdOf));
}
