import { sliceSize } from '../../lib/messages/dispatch/slice.ts';

/** This service bills a call. */
type Service = 'write' | 'read' | 'queue' | 'grouped' | 'platform' | 'none';

/** A call that is missing here throws, so that none goes uncounted. */
const serviceOf: Readonly<Record<string, Service>> = {
  claimSlice: 'write',
  endSlice: 'write',
  mark: 'write',
  findSlice: 'read',
  lookAtDispatch: 'read',
  hasReceipt: 'read',
  stoppedAmong: 'read',
  listDispatch: 'write',
  beginStraight: 'write',
  findStored: 'read',
  findPage: 'read',
  park: 'write',
  stop: 'write',
  parkTold: 'write',
  resume: 'write',
  unpark: 'write',
  findTemplate: 'platform',
  // All workers read numbers and this state.
  findPace: 'read',
  changePace: 'write',
  changeHolds: 'write',
  askHolds: 'write',
  findBreaker: 'read',
  changeBreaker: 'write',
  // Calls that send to a queue are billed by message group.
  sendInbound: 'grouped',
  postpone: 'queue',
  hold: 'queue',
  send: 'platform',
  probe: 'platform',
  // Calls of a number's sender.
  lookAtBacklog: 'read',
  findLease: 'read',
  changeLease: 'write',
  changeEntry: 'write',
  removeOwnEntry: 'write',
  findItem: 'read',
  wakeSenders: 'queue',
  reckon: 'write',
  progressOf: 'none',
  sweep: 'none',
  enter: 'none',
  bringEntry: 'none',
  takePlaces: 'write',
  closePlaces: 'write',
  // Calls of a worker of small requests.
  lookAtNumber: 'read',
  storeSmall: 'write',
  beginSmall: 'write',
  enterSmall: 'write',
  // Acceptance, looks at the backlog, receipts and events are counted apart.
  findStates: 'none',
  findHolds: 'none',
  store: 'none',
  wakeAccepted: 'none',
  list: 'none',
  withdraw: 'none',
  beginAccepted: 'none',
  enqueueStraight: 'none',
  findHeads: 'none',
  append: 'none',
  dispatchesWithUnknown: 'none',
  ofGroup: 'none',
  findSlices: 'none',
  sendEvents: 'none',
  markOptOuts: 'none',
  changePerson: 'none',
  listPerson: 'none',
};

/**
 * Some calls count more than once: a straight dispatch writes its head and its place in the client's list, and reads
 * are billed by the item.
 */
const unitsOf: Readonly<Record<string, number>> = {
  beginStraight: 2,
  lookAtDispatch: 2,
  // Pace, breaker, holds and a lease.
  lookAtNumber: 4,
  // Parameters, addresses and record.
  storeSmall: 3,
  stoppedAmong: sliceSize,
};

export interface RunTimes {
  readonly runs: number;
  readonly ms: number;
}

export class Meter {
  readonly #requests: Record<Service, number> = {
    ...{ write: 0, read: 0, queue: 0, grouped: 0 },
    ...{ platform: 0, none: 0 },
  };
  readonly #runs = new Map<string, { runs: number; ms: number }>();

  /** By name, so often was each call made. */
  readonly calls = new Map<string, number>();

  /** `bytes` is the size of what the call carries to or from a queue. */
  count(name: string, bytes = 0): void {
    const service = serviceOf[name];
    if (service === undefined) throw new Error(`the meter does not know the call ${name}`);
    this.calls.set(name, (this.calls.get(name) ?? 0) + 1);
    this.#requests[service] += (unitsOf[name] ?? 1) + billedBeside(bytes);
  }

  /** Counts a batch that was received, and the one request that deletes it. */
  countDelivery(bytes: number): void {
    this.#requests.queue += 2 + billedBeside(bytes);
  }

  ran(name: string, ms: number): void {
    const { runs = 0, ms: before = 0 } = this.#runs.get(name) ?? {};
    this.#runs.set(name, { runs: runs + 1, ms: before + ms });
  }

  get requests(): Readonly<Record<Service, number>> {
    return this.#requests;
  }

  timesOf(name: string): RunTimes {
    return this.#runs.get(name) ?? { runs: 0, ms: 0 };
  }
}

/** SQS bills one request for each 64 KB. */
function billedBeside(bytes: number): number {
  return Math.max(0, Math.ceil(bytes / 65_536) - 1);
}
