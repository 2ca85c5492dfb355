import { omitUndefined } from '../../../lib/keys/omit-undefined.ts';
import type { AcceptedJobs } from '../../../lib/messages/accept/accepted-jobs-store.ts';
import { pairRateDelaysMs } from '../../../lib/messages/accept/pair-rate-delays.ts';
import type { WholeJob } from '../../../lib/messages/accept/whole-job.ts';
import type { UnknownOutcomes } from '../../../lib/messages/dispatch/chunk-ports.ts';
import type { Slice, SliceKey } from '../../../lib/messages/dispatch/claims/slice.ts';
import type { Slices } from '../../../lib/messages/dispatch/claims/slice-store.ts';
import type { JobRounds } from '../../../lib/messages/fan-out/job-rounds.ts';
import { receiptGroupOf } from '../../../lib/messages/items.ts';
import { dispatchIdOf, type JobHead } from '../../../lib/messages/job.ts';
import type { JobState, JobStates } from '../../../lib/messages/job-state.ts';
import type { Receipt } from '../../../lib/messages/receipts/receipt.ts';
import type { ProvenSlices, ReceiptRecords } from '../../../lib/messages/receipts/receipt-ports.ts';
import { begun, type JobItem, type JobPort, jobWrites, stateOf, withdrawnJob } from './job-item.ts';
import { appended, provenPlaces } from './receipt-items.ts';
import { sliceWrites } from './slice-item.ts';
import { writtenBy } from './written.ts';

/** Every call of a run passes `call`, which may count it, delay it or let it fail. */
export interface Caller {
  readonly call: <T>(name: string, effect: () => T | Promise<T>) => Promise<T>;
}

/** Each call of tests without faults and delays is its effect. */
export const nothingFails: Caller = { call: async (_, effect) => await effect() };

/** Reads of recipients have this page size. */
const pageSize = 500;

/**
 * The messages table in memory has jobs, slices, receipts and doubts: the items of the model, for any number of runs.
 */
export class MemoryTable {
  readonly jobs = new Map<string, JobItem>();
  /** The jobs of these heads have begun. */
  readonly heads = new Map<string, JobHead>();
  /** The keys are job and number: `J 0`. */
  readonly slices = new Map<string, Slice>();
  readonly doubtful = new Set<string>();
  /** These scheduled jobs have messages that may be pending. */
  readonly scheduled = new Set<string>();
  /** The keys are dispatch ids of messages. */
  readonly receipts: Record<string, readonly Receipt[]> = {};
  readonly #stored = new Map<string, WholeJob>();

  /** `set` keeps whether a job has begun, and the progress of its fan-out. */
  readonly states = {
    get: (jobId: string): JobState | undefined => {
      const job = this.jobs.get(jobId);
      return job === undefined ? undefined : stateOf(job);
    },
    set: (jobId: string, state: JobState): void => {
      const { begun: hasBegun, withdrawn, round, progress } = this.jobs.get(jobId) ?? {};
      this.jobs.set(jobId, { ...omitUndefined({ begun: hasBegun, withdrawn, round, progress }), ...state });
    },
  };

  statesOf(jobIds: readonly string[]): ReadonlyMap<string, JobState> {
    return picked(this.states, jobIds);
  }

  /** Stores a job for its fan-out, as acceptance does. */
  store(job: WholeJob): void {
    this.#stored.set(job.head.jobId, job);
  }

  put(...slices: readonly Slice[]): void {
    for (const slice of slices) this.slices.set(nameOf(slice.key), slice);
  }

  /** Reads strongly consistently. */
  find(key: SliceKey): Slice | undefined {
    return this.slices.get(nameOf(key));
  }

  begin(head: JobHead): 'begun' | 'withdrawn' {
    const { item, value } = begun(this.jobs.get(head.jobId));
    this.#keep(head.jobId, item);
    if (value === 'begun') this.heads.set(head.jobId, head);
    return value;
  }

  ofAcceptance(run: Caller): Pick<AcceptedJobs, 'describe' | 'withdraw' | 'list' | 'begin'> {
    return {
      list: () => run.call('list', () => undefined),
      describe: (job) => run.call('describe', () => this.store(job)),
      begin: ({ head }) => run.call('beginAccepted', () => this.begin(head)),
      withdraw: (jobId) =>
        run.call('withdraw', () => {
          const found = { job: this.jobs.get(jobId), slice: this.find({ jobId, slice: 0 }) };
          const { job, slice, value } = withdrawnJob(found, jobId, 0);
          this.#keep(jobId, job);
          if (slice !== undefined) this.put(slice);
          return value;
        }),
    };
  }

  ofRounds(run: Caller): JobRounds {
    return {
      find: (jobId) =>
        run.call('findJob', () => {
          const job = this.#stored.get(jobId);
          if (job === undefined) return undefined;
          const waitsMs = pairRateDelaysMs(job.recipients);
          const { head, plan, repeats = [], lots, header } = job;
          return { head, plan, repeats, waitsMs, ...omitUndefined({ lots, header }) };
        }),
      recipientsFrom: (jobId, firstIndex) =>
        run.call('findPage', () => {
          const end = pageSize * (Math.floor(firstIndex / pageSize) + 1);
          return this.#stored.get(jobId)?.recipients.slice(firstIndex, end) ?? [];
        }),
      begin: ({ head }) =>
        run.call('beginJob', () => {
          const begun = this.begin(head);
          if (begun === 'begun' && head.when !== undefined) this.scheduled.add(head.jobId);
          return begun;
        }),
      take: this.#writeOf(run, 'take', 'takeRound'),
      announce: this.#writeOf(run, 'announce', 'checkpoint'),
      handOver: this.#writeOf(run, 'handOver'),
      leaveSchedule: (jobId) => run.call('leaveSchedule', () => void this.scheduled.delete(jobId)),
    };
  }

  ofStates(run: Caller): JobStates {
    return {
      of: (jobIds) => run.call('findStates', () => this.statesOf(jobIds)),
      stop: this.#writeOf(run, 'stop'),
      park: this.#writeOf(run, 'park'),
      goOn: this.#writeOf(run, 'goOn'),
      resume: this.#writeOf(run, 'resume'),
      endPause: this.#writeOf(run, 'endPause'),
    };
  }

  ofSlices(run: Caller): Slices {
    const write = <Name extends keyof Slices>(name: Name, as: string) =>
      ((...args: Parameters<Slices[Name]>) => {
        const [{ key }] = args;
        return run.call(as, () => {
          const { item, value } = writtenBy(sliceWrites, name, this.find(key), args);
          if (item !== undefined) this.put(item);
          return value;
        });
      }) as Slices[Name];
    return {
      claim: write('claim', 'claimSlice'),
      end: write('end', 'endSlice'),
      endForTheDead: write('endForTheDead', 'endSlice'),
      settle: write('settle', 'endSlice'),
      // The slice is read before it is written, so that no concurrent change is overwritten.
      endUncalled: async (claim, outcomes) => {
        const seen = await run.call('findSlice', () => this.find(claim.key));
        const { item, value } = sliceWrites.endUncalled(seen, claim, outcomes);
        if (item === seen || item === undefined) return value;
        return await run.call('endSlice', () => {
          if (this.find(claim.key)?.version !== seen?.version) throw new Error('the slice has changed meanwhile');
          this.put(item);
          return value;
        });
      },
    };
  }

  ofDoubts(run: Caller): UnknownOutcomes {
    return {
      mark: ({ jobId }) => run.call('mark', () => void this.doubtful.add(jobId)),
      proven: (key) => run.call('hasReceipt', () => provenPlaces(this.receipts, key)),
    };
  }

  ofReceipts(run: Caller): { readonly records: ReceiptRecords; readonly slices: ProvenSlices } {
    return {
      records: {
        findHeads: (jobIds) => run.call('findHeads', () => picked(this.heads, jobIds)),
        append: (_, receipts) => run.call('append', () => this.append(...receipts)),
        jobsWithUnknown: (jobIds) =>
          run.call('jobsWithUnknown', () => new Set(jobIds.filter((jobId) => this.doubtful.has(jobId)))),
        ofGroup: (jobId, group) =>
          run.call('ofGroup', () =>
            Object.values(this.receipts)
              .flat()
              .filter((each) => each.jobId === jobId && receiptGroupOf(each.index) === group),
          ),
      },
      slices: {
        findAll: (keys) => run.call('findSlices', () => keys.flatMap((key) => this.find(key) ?? [])),
        settle: this.ofSlices(run).settle,
      },
    };
  }

  append(...receipts: readonly Receipt[]): void {
    for (const receipt of receipts) {
      const id = dispatchIdOf(receipt);
      this.receipts[id] = appended(this.receipts[id], receipt);
    }
  }

  /** Writes one job, under the name that its run calls. */
  #writeOf<Name extends keyof JobPort>(run: Caller, name: Name, as: string = name): JobPort[Name] {
    const write = (...args: readonly unknown[]) => {
      const [job] = args as [string | { readonly jobId: string }];
      const jobId = typeof job === 'string' ? job : job.jobId;
      return run.call(as, () => {
        const { item, value } = writtenBy(jobWrites, name, this.jobs.get(jobId), args);
        this.#keep(jobId, item);
        return value;
      });
    };
    return write as JobPort[Name];
  }

  #keep(jobId: string, job: JobItem | undefined): void {
    if (job !== undefined) this.jobs.set(jobId, job);
  }
}

function picked<T>(
  from: { readonly get: (jobId: string) => T | undefined },
  jobIds: readonly string[],
): ReadonlyMap<string, T> {
  const found = jobIds.map((jobId) => [jobId, from.get(jobId)] as const);
  return new Map(found.flatMap(([jobId, one]) => (one === undefined ? [] : [[jobId, one]])));
}

function nameOf({ jobId, slice }: SliceKey): string {
  return `${jobId} ${slice}`;
}
