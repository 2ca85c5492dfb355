import { expect, test } from 'vitest';
import { byHolds } from '../../../../lib/messages/holds/held-job.ts';
import { holdsOn, mayAsk } from '../../../../lib/messages/holds/hold.ts';
import { type RunHoldsPorts, runHolds } from '../../../../lib/messages/holds/run-holds.ts';
import { type JobStates, longestParkMs } from '../../../../lib/messages/job-state.ts';
import { type WatchPorts, watchJobs } from '../../../../lib/messages/watch/watch.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../../lib/messages/watch/watch-message.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { MemoryHolds } from '../../../support/memory-holds.ts';
import { MemoryTable, nothingFails } from '../../../support/messages-table/memory-table.ts';
import { noCosts } from '../../../support/no-costs.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { makeTemplate } from '../../../support/templates.ts';
import { chunkOf } from '../dispatch/chunk-run-world.ts';

/**
 * The platform calls a template APPROVED while it refuses its messages (132015). Workers and the watcher work on one
 * job through the longest pause, second by second; each unheld message and each probe is called and refused.
 */

const startMs = 1_800_000_000_000;
const head = makeJobHead({ acceptedAtMs: startMs, total: 900 });
/** A refused message comes again after this time at the earliest. */
const backAfterMs = 15_000;

async function lived(refusedUntilMs: number) {
  const events = new MemoryEvents();
  const watches: { readonly dueMs: number; readonly message: ParkedWatch }[] = [];
  const seen = { parkings: 0, questions: 0, calls: 0, expiredMs: 0 };
  let nowMs = startMs;
  let nextSendMs = startMs;
  const queue = (message: ParkedWatch, seconds: number) => watches.push({ dueMs: nowMs + seconds * 1_000, message });
  const wabas = new MemoryHolds(() => nowMs);
  const table = new MemoryTable();
  table.begin(head);
  const ofTable = table.ofStates(nothingFails);
  const states: JobStates = {
    ...ofTable,
    park: async (...how) => {
      const isParked = await ofTable.park(...how);
      if (isParked) seen.parkings += 1;
      return isParked;
    },
    stop: async (...how) => {
      seen.expiredMs = nowMs;
      return await ofTable.stop(...how);
    },
  };
  const clock = { nowMs: () => nowMs, log: () => undefined };
  const ports: WatchPorts = {
    ...clock,
    progressOf: async () => undefined,
    queue: { sendLater: async () => undefined },
    events,
    spend: noCosts.spend,
    parked: {
      queue: { sendLater: async (message, seconds) => void queue(message, seconds) },
      states,
      holds: wabas,
      isDown: async () => false,
      jobOf: async () => ({ head }),
      templates: { storedFacts: async () => new Map() },
      platformTemplates: {
        find: async () => {
          seen.questions += 1;
          return makeTemplate({ status: 'APPROVED' });
        },
      },
    },
  };
  const holds: RunHoldsPorts = {
    ...clock,
    states,
    wabas,
    watchParked: async (_, since) => void queue(parkedWatchOf(head, since), 3),
  };
  const chunk = chunkOf([], { jobId: head.jobId, acceptedAtMs: startMs });
  for (; nowMs <= startMs + 2 * longestParkMs; nowMs += 1_000) {
    for (const [at, { dueMs, message: watch }] of watches.entries()) {
      if (dueMs > nowMs) continue;
      watches.splice(at, 1);
      await watchJobs([{ messageId: 'm', body: JSON.stringify(watch) }], ports);
      break;
    }
    if (nowMs < nextSendMs) continue;
    nextSendMs = nowMs + backAfterMs;
    const on = holdsOn(wabas.of(head.wabaId), head);
    const run = runHolds(holds);
    const job = table.states.get(head.jobId) ?? {};
    if (byHolds(job, on, {}, nowMs).kind === 'settle') continue;
    const question = on.length > 0 && on.every(({ hold }) => mayAsk(hold, nowMs)) ? await run.ask(chunk) : undefined;
    if (on.length > 0 && question === undefined) continue;
    seen.calls += 1;
    const isRefused = nowMs < refusedUntilMs;
    if (isRefused) await run.byRefusal(chunk, { code: 132015 });
    else await run.taken(chunk, job);
    if (question !== undefined) await run.answered(chunk, question, isRefused ? 'refused' : 'taken');
  }
  return { ...seen, events: events.sent, watches };
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
