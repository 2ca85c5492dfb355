import { omitUndefined } from '../../../../lib/keys/omit-undefined.ts';
import type { JobState } from '../../../../lib/messages/job-state.ts';
import { cancelJob } from '../../../../lib/messages/report/cancel.ts';
import type { DescribedJob } from '../../../../lib/messages/report/described-job.ts';
import { countStates, type OutcomeCounts, type WrittenMessages } from '../../../../lib/messages/report/outcome.ts';
import { countsOf, describedJob, openReport, readPage } from '../../../../lib/messages/report/read-report.ts';
import type { Report } from '../../../../lib/messages/report/report-store.ts';
import { type WatchPorts, watchJobs } from '../../../../lib/messages/watch/watch.ts';
import type { DispatchCompletedData, ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { type JobItem, jobWrites } from '../../../support/messages-table/job-item.ts';
import { writtenBy } from '../../../support/messages-table/written.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { noCost, shippedKnownRates } from '../../../support/reported-jobs.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { jobId, type Store, startMs } from '../dispatch/claims/slice-world.ts';

/** A reader reports counts, row states by index, or both. */
export interface Telling {
  readonly counts?: OutcomeCounts;
  readonly rows?: Readonly<Record<string, string>>;
}

/** A `later page` is a report's second page. */
export type ReaderKind = 'cancellation' | 'watcher' | 'report' | 'later page';

export interface ReaderStart {
  readonly kind: ReaderKind;
  readonly nowMs: number;
  readonly total: number;
}

/** Returns the state of the reader's real code after its replies. */
export function readerStanding(start: ReaderStart, replies: readonly Reply[]): Promise<Standing<Telling>> {
  const run = (outside: Outside<string>) =>
    reads(start, outside).catch((error: unknown): Telling => {
      if (error instanceof Error && error.message === 'unavailable') return {};
      throw error;
    });
  return standingAfter(run, start.nowMs, replies);
}

async function reads({ kind, total }: ReaderStart, { call, nowMs }: Outside<string>): Promise<Telling> {
  const report: Report = {
    findDescribed: call('findDescribed'),
    readMessages: call('readMessages'),
    reckon: call('reckon'),
  };
  const log = () => undefined;
  if (kind === 'cancellation') {
    const job = (await describedJob(report, jobId)) as DescribedJob;
    const of = call('of') as () => Promise<JobState>;
    const states = { stop: call('stop'), of: async () => new Map([[jobId, await of()]]) };
    const { counts } = await cancelJob({ report, states, ...noCosts, rates: shippedKnownRates, nowMs, log }, job);
    return { counts };
  }
  if (kind === 'watcher') {
    const watched = { version: 1, kind: 'running', jobId, clientId: 1001, acceptedAtMs: startMs, final: [] };
    const told: ServiceEvent[] = [];
    const ports = {
      progressOf: (asked: string, final: readonly number[]) => countsOf(report, asked, final),
      queue: { sendLater: async () => undefined },
      events: { send: async (events: ServiceEvent[]) => void told.push(...events) },
      spend: noCosts.spend,
      parked: undefined as unknown as WatchPorts['parked'],
      ...{ nowMs, log },
    };
    await watchJobs([{ messageId: 'm', body: JSON.stringify(watched) }], ports);
    const counts = told.map(({ data }) => (data as DispatchCompletedData).counts)[0];
    return omitUndefined({ counts });
  }
  const question = { jobId, states: undefined, limit: 1_000 };
  const counts = countStates([]);
  const later = { position: 1, index: 1, total, counts, cost: noCost, repeatedPartitions: [] };
  const open = await openReport(report, question, kind === 'report' ? undefined : later);
  if (open === undefined) throw new Error('there is no such job');
  const page = await readPage(report, question, open, { nowMs: nowMs(), rates: await shippedKnownRates() });
  const rows = Object.fromEntries(page.rows.map(({ index, state }) => [index, state]));
  return kind === 'report' ? { counts: page.counts, rows } : { rows };
}

/** Applies a reader's call to the stored state. */
export function readerCall(
  { store, job, total, nowMs }: { store: Store; job: JobItem; total: number; nowMs: number },
  { name, args }: Pick<Call, 'name' | 'args'>,
): { readonly store: Store; readonly job: JobItem; readonly value?: unknown } {
  switch (name) {
    case 'findDescribed': {
      const value: DescribedJob = { head: makeJobHead({ jobId, total }), repeats: [], recipients: new Map(), ...job };
      return { store, job, value };
    }
    case 'readMessages': {
      const slices = new Map(Object.values(store.slices).map((slice) => [slice.key.slice, slice]));
      const value: WrittenMessages = { slices, proofs: new Map(), askedAtMs: nowMs };
      return { store, job, value };
    }
    case 'reckon':
    case 'stop': {
      const { item = {}, value } = writtenBy(jobWrites, name, job, args);
      return { store: { ...store, stopped: item.stop !== undefined }, job: item, value };
    }
    case 'of':
      return { store, job, value: job };
    default:
      throw new Error(`${name} is no call of a reader`);
  }
}
