import { type DispatchItem, type DispatchItemState, stateOf } from '../../../../lib/messages/dispatch/item.ts';
import { cancelDispatch } from '../../../../lib/messages/report/cancel.ts';
import type { DescribedDispatch } from '../../../../lib/messages/report/described-dispatch.ts';
import { countStates, type OutcomeCounts, type WrittenMessages } from '../../../../lib/messages/report/outcome.ts';
import { countsOf, describedDispatch, openReport, readPage } from '../../../../lib/messages/report/read-report.ts';
import type { Report } from '../../../../lib/messages/report/report-store.ts';
import { tellEnd } from '../../../../lib/messages/sender/tell-end.ts';
import type { DispatchCompletedData, ServiceEvent } from '../../../../lib/webhooks/event.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { writtenByName } from '../../../support/messages-table/dispatch-item.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { type Call, type Outside, type Reply, type Standing, standingAfter } from '../../../support/replayed-run.ts';
import { noCost, shippedKnownRates } from '../../../support/reported-dispatches.ts';
import { dispatchId, type Store } from '../send/claims/slice-world.ts';

/** A reader reports counts, row states by index, or both. */
export interface Telling {
  readonly counts?: OutcomeCounts;
  readonly rows?: Readonly<Record<string, string>>;
}

/** A `later page` is a report's second page. */
export type ReaderKind = 'cancellation' | 'sender' | 'report' | 'later page';

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
    const dispatch = (await describedDispatch(report, dispatchId)) as DescribedDispatch;
    const of = call('of') as () => Promise<DispatchItemState>;
    const states = { stop: call('stop'), of: async () => new Map([[dispatchId, await of()]]) };
    const { counts } = await cancelDispatch(
      { report, states, ...noCosts, wakeNumber: async () => undefined, rates: shippedKnownRates, nowMs, log },
      dispatch,
    );
    return { counts };
  }
  if (kind === 'sender') {
    const told: ServiceEvent[] = [];
    const ports = {
      progressOf: (asked: string) => countsOf(report, asked),
      events: { send: async (events: ServiceEvent[]) => void told.push(...events) },
      spend: noCosts.spend,
      ...{ nowMs, log },
    };
    await tellEnd(dispatchId, ports);
    const counts = told.map(({ data }) => (data as DispatchCompletedData).counts)[0];
    return { counts };
  }
  const question = { dispatchId, states: undefined, limit: 1_000 };
  const counts = countStates([]);
  const later = { position: 1, index: 1, total, counts, cost: noCost, repeatedPartitions: [] };
  const open = await openReport(report, question, kind === 'report' ? undefined : later);
  if (open === undefined) throw new Error('there is no such dispatch');
  const page = await readPage(report, question, open, { nowMs: nowMs(), rates: await shippedKnownRates() });
  const rows = Object.fromEntries(page.rows.map(({ index, state }) => [index, state]));
  return kind === 'report' ? { counts: page.counts, rows } : { rows };
}

/** Applies a reader's call to the stored state. */
export function readerCall(
  { store, dispatch, total, nowMs }: { store: Store; dispatch: DispatchItem; total: number; nowMs: number },
  { name, args }: Pick<Call, 'name' | 'args'>,
): { readonly store: Store; readonly dispatch: DispatchItem; readonly value?: unknown } {
  switch (name) {
    case 'findDescribed': {
      const value: DescribedDispatch = {
        head: makeDispatchHead({ dispatchId, total }),
        repeats: [],
        recipients: new Map(),
        ...stateOf(dispatch),
      };
      return { store, dispatch, value };
    }
    case 'readMessages': {
      const slices = new Map(Object.values(store.slices).map((slice) => [slice.key.slice, slice]));
      const value: WrittenMessages = { slices, proofs: new Map(), askedAtMs: nowMs };
      return { store, dispatch, value };
    }
    case 'reckon':
    case 'stop': {
      const { item = {}, value } = writtenByName(name, dispatch, args);
      return { store: { ...store, stopped: item.stop !== undefined }, dispatch: item, value };
    }
    case 'of':
      return { store, dispatch, value: dispatch };
    default:
      throw new Error(`${name} is no call of a reader`);
  }
}
