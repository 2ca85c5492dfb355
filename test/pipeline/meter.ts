/** What a call of a world is a request of. */
type Service = 'write' | 'read' | 'queue' | 'platform' | 'none';

/** The calls of a world's runs, by their names: a call that is not here is a mistake, so that none goes uncounted. */
const serviceOf: Readonly<Record<string, Service>> = {
  // Claims, batch records and doubts.
  take: 'write',
  release: 'write',
  settle: 'write',
  recordBatch: 'write',
  mark: 'write',
  findBatchRecord: 'read',
  // Slices.
  claimSlice: 'write',
  endSlice: 'write',
  findSlice: 'read',
  look: 'read',
  hasReceipt: 'read',
  // Jobs: a beginning is the head and where it is found by day.
  begin: 'write',
  beginJob: 'write',
  findJob: 'read',
  findPage: 'read',
  beginStraight: 'write',
  describe: 'none',
  takeRound: 'write',
  checkpoint: 'write',
  handOver: 'write',
  withdraw: 'write',
  park: 'write',
  stop: 'write',
  endPause: 'write',
  jobStates: 'read',
  // Numbers, and what all look at.
  findPace: 'read',
  changePace: 'write',
  takeTenth: 'write',
  tellDemand: 'write',
  findBreaker: 'read',
  changeBreaker: 'write',
  // Receipts are counted apart.
  findHeads: 'none',
  append: 'none',
  doubtfulJobs: 'none',
  ofGroup: 'none',
  findClaims: 'none',
  findBatchRecords: 'none',
  settleSeen: 'none',
  sendBatch: 'queue',
  sendLater: 'queue',
  sendAgain: 'queue',
  enqueueStraight: 'queue',
  postpone: 'queue',
  hold: 'queue',
  send: 'platform',
  probe: 'platform',
  sendEvents: 'none',
};

/** Calls that are two requests. */
const doubled = new Set(['begin', 'beginStraight', 'look']);

/** Runs of a function and how long they took together, waiting included. */
export interface RunTimes {
  readonly runs: number;
  readonly ms: number;
}

/** What the runs of a world have asked for, and how long they took. */
export class Meter {
  readonly #requests: Record<Service, number> = { write: 0, read: 0, queue: 0, platform: 0, none: 0 };
  readonly #runs = new Map<string, { runs: number; ms: number }>();

  count(name: string): void {
    const service = serviceOf[name];
    if (service === undefined) throw new Error(`the meter does not know the call ${name}`);
    this.#requests[service] += doubled.has(name) ? 2 : 1;
  }

  /** A batch that was received, and the one request that deletes it. */
  countDelivery(): void {
    this.#requests.queue += 2;
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
