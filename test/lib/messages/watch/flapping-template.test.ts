import { expect, test } from 'vitest';
import { callFactsOf } from '../../../../lib/messages/dispatch/call-facts.ts';
import { longestParkMs } from '../../../../lib/messages/dispatch/item-state.ts';
import type { DispatchItemStates } from '../../../../lib/messages/dispatch/item-store.ts';
import { byHolds } from '../../../../lib/messages/holds/held-dispatch.ts';
import { holdsOn, isProbeDue } from '../../../../lib/messages/holds/hold.ts';
import { type RunHoldsPorts, runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import { type WatchPorts, watchDispatches } from '../../../../lib/messages/watch/watch.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../../lib/messages/watch/watch-message.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { MemoryTable, nothingFails } from '../../../support/messages-table/memory-table.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { makeTemplate } from '../../../support/templates.ts';

/**
 * The platform calls a template APPROVED while it refuses its messages (132015). Workers and the watcher work on one
 * dispatch through the longest pause, second by second; each unheld message and each probe is called and refused.
 */

const startMs = 1_800_000_000_000;
const head = makeDispatchHead({ acceptedAtMs: startMs, total: 900 });
/** A refused message comes again after this time at the earliest. */
const backAfterMs = 15_000;

/** The test moves the clock of the dispatch, its template, its watcher and its workers. */
function world() {
  const seen = { parkings: 0, questions: 0, calls: 0, expiredMs: 0 };
  const time = { nowMs: startMs };
  const events = new MemoryEvents();
  const watches: { readonly dueMs: number; readonly message: ParkedWatch }[] = [];
  const watchIn = (message: ParkedWatch, seconds: number) =>
    void watches.push({ dueMs: time.nowMs + seconds * 1_000, message });
  const clock = { nowMs: () => time.nowMs, log: () => undefined };
  const wabas = new MemoryHolds(clock.nowMs);
  const table = new MemoryTable();
  table.begin(head);
  const states = statesCounting(table, seen, clock);
  const watcher: WatchPorts = {
    ...clock,
    events,
    spend: noCosts.spend,
    parked: { ...approved(seen), queue: { sendLater: async (...copy) => watchIn(...copy) }, states, holds: wabas },
  };
  const watchParked: RunHoldsPorts['watchParked'] = async (_, since) => watchIn(parkedWatchOf(head, since), 3);
  return { seen, time, events, watches, wabas, table, watcher, worker: { ...clock, states, wabas, watchParked } };
}

function statesCounting(table: MemoryTable, seen: ReturnType<typeof world>['seen'], clock: { nowMs(): number }) {
  const ofTable = table.ofStates(nothingFails);
  const states: DispatchItemStates = {
    ...ofTable,
    park: async (...how) => {
      const isParked = await ofTable.park(...how);
      if (isParked) seen.parkings += 1;
      return isParked;
    },
    stop: async (...how) => {
      seen.expiredMs = clock.nowMs();
      return await ofTable.stop(...how);
    },
  };
  return states;
}

const approved = (seen: ReturnType<typeof world>['seen']) => ({
  isDown: async () => false,
  dispatchOf: async () => ({ head }),
  templates: { storedFacts: async () => new Map() },
  keepReading: async () => undefined,
  platformTemplates: {
    find: async () => {
      seen.questions += 1;
      return makeTemplate({ status: 'APPROVED' });
    },
  },
});

async function lived(refusedUntilMs: number) {
  const { seen, time, events, watches, watcher, ...others } = world();
  let nextSendMs = startMs;
  for (; time.nowMs <= startMs + 2 * longestParkMs; time.nowMs += 1_000) {
    const due = watches.findIndex(({ dueMs }) => dueMs <= time.nowMs);
    const [watch] = due < 0 ? [] : watches.splice(due, 1);
    if (watch !== undefined) await watchDispatches([{ messageId: 'm', body: JSON.stringify(watch.message) }], watcher);
    if (time.nowMs < nextSendMs) continue;
    nextSendMs = time.nowMs + backAfterMs;
    const isCalled = await works({ ...others, nowMs: time.nowMs }, time.nowMs < refusedUntilMs);
    if (isCalled) seen.calls += 1;
  }
  return { ...seen, events: events.sent, watches };
}

/** A worker has one message: it calls when no hold is open, or as a probe. */
async function works(
  { table, wabas, worker, nowMs }: Pick<ReturnType<typeof world>, 'table' | 'wabas' | 'worker'> & { nowMs: number },
  isRefused: boolean,
): Promise<boolean> {
  const callFacts = callFactsOf(head, { limitPerSecond: 80 });
  const on = holdsOn(wabas.of(head.wabaId), head);
  const run = runHolds(worker);
  const dispatch = table.states.get(head.dispatchId) ?? {};
  if (byHolds(dispatch, on, {}, nowMs).kind === 'settle') return false;
  const probe =
    on.length > 0 && on.every(({ hold }) => isProbeDue(hold, nowMs)) ? await run.takeProbes(callFacts) : undefined;
  if (on.length > 0 && probe === undefined) return false;
  if (isRefused) await run.byRefusal(callFacts, { code: 132015 });
  else await run.taken(callFacts, dispatch);
  if (probe !== undefined) await run.answered(callFacts, probe, isRefused ? 'refused' : 'taken');
  return true;
}

test('for a day: told once, tried ever more rarely, expired a day after the first refusal (D46)', async () => {
  const { parkings, questions, calls, expiredMs, events, watches } = await lived(Number.POSITIVE_INFINITY);
  expect(events.map(({ type }) => type)).toEqual(['dispatch.parked']);
  // A retry every half minute would make 2,600.
  expect(parkings).toBeLessThan(150);
  expect(questions).toBeLessThan(150);
  // In each wait of ten minutes, six messages probe and are refused.
  expect(calls).toBeLessThan(1_000);
  expect(parkings).toBeGreaterThan(100);
  expect(expiredMs - startMs - longestParkMs).toBeGreaterThanOrEqual(0);
  expect(expiredMs - startMs - longestParkMs).toBeLessThanOrEqual(120_000);
  expect(watches).toEqual([]);
}, 60_000);

test('for an hour: told as one pause, which ends with the first message that is taken (D46)', async () => {
  const { events, expiredMs, watches } = await lived(startMs + 3_600_000);
  expect(events.map(({ type }) => type)).toEqual(['dispatch.parked', 'dispatch.resumed']);
  const [parked, resumed] = events;
  expect(resumed?.data).toMatchObject({ parked_at: new Date(startMs).toISOString() });
  expect((resumed?.timestampMs ?? 0) - (parked?.timestampMs ?? 0)).toBeLessThan(3_600_000 + 800_000);
  expect([expiredMs, watches]).toEqual([0, []]);
}, 60_000);
