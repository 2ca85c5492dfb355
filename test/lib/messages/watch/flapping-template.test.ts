import { expect, test } from 'vitest';
import { jobHolds } from '../../../../lib/messages/job-holds.ts';
import { byJobState, type JobState, type JobStates, longestParkMs } from '../../../../lib/messages/job-state.ts';
import { type WatchPorts, watchJobs } from '../../../../lib/messages/watch/watch.ts';
import { type ParkedWatch, parkedWatchOf } from '../../../../lib/messages/watch/watch-message.ts';
import { MemoryEvents } from '../../../support/memory-events.ts';
import { makeJobHead } from '../../../support/send-jobs.ts';
import { makeTemplate } from '../../../support/templates.ts';

/*
 * A template that the platform calls APPROVED while it refuses its messages (132015): workers and the watcher on one job,
 * second by second, through the longest pause. Whenever the job is not parked, messages come again and are refused.
 */

const startMs = 1_800_000_000_000;
const head = makeJobHead({ acceptedAtMs: startMs, total: 900 });
/** Copies of a message that was refused wait at least so long. */
const backAfterMs = 15_000;

async function lived(refusedUntilMs: number) {
  const events = new MemoryEvents();
  const watches: { readonly dueMs: number; readonly message: ParkedWatch }[] = [];
  const seen = { parkings: 0, questions: 0, expiredMs: 0 };
  let nowMs = startMs;
  let state: JobState = {};
  let nextSendMs = startMs;
  const queue = (message: ParkedWatch, seconds: number) => watches.push({ dueMs: nowMs + seconds * 1_000, message });
  const states: JobStates = {
    of: async () => new Map([[head.jobId, state]]),
    park: async (_, parked) => {
      seen.parkings += 1;
      state = { parked, pausedFromMs: state.pausedFromMs ?? parked.sinceMs };
      return true;
    },
    resume: async () => {
      const { parked: _over, ...rest } = state;
      state = rest;
      nextSendMs = nowMs + backAfterMs;
      return true;
    },
    endPause: async () => {
      const { pausedFromMs: _over, ...rest } = state;
      state = rest;
    },
    stop: async (_, stop) => {
      state = { stop };
      seen.expiredMs = nowMs;
      return true;
    },
  };
  const clock = { nowMs: () => nowMs, log: () => undefined };
  const ports: WatchPorts = {
    ...clock,
    progressOf: async () => undefined,
    queue: { sendLater: async () => undefined },
    events,
    parked: {
      queue: { sendLater: async (message, seconds) => void queue(message, seconds) },
      states,
      headOf: async () => head,
      templates: { storedFacts: async () => new Map() },
      platformTemplates: {
        find: async () => {
          seen.questions += 1;
          return makeTemplate({ status: 'APPROVED' });
        },
      },
    },
  };
  const holds = {
    ...clock,
    states,
    watchParked: async (_: unknown, since: number) => void queue(parkedWatchOf(head, since), 3),
  };
  const message = { jobId: head.jobId, clientId: head.clientId, acceptedAtMs: startMs };
  for (; nowMs <= startMs + 2 * longestParkMs; nowMs += 1_000) {
    for (const [at, { dueMs, message: watch }] of watches.entries()) {
      if (dueMs > nowMs) continue;
      watches.splice(at, 1);
      await watchJobs([{ messageId: 'm', body: JSON.stringify(watch) }], ports);
      break;
    }
    if (nowMs < nextSendMs || byJobState(state, {}, nowMs).kind !== 'send') continue;
    if (nowMs < refusedUntilMs) await jobHolds(holds).byRefusal(message, { code: 132015 });
    else await jobHolds(holds).taken([head.jobId]);
  }
  return { ...seen, events: events.sent, watches };
}

test('for a day: told once, tried ever more rarely, expired a day after the first refusal (D46)', async () => {
  const { parkings, questions, expiredMs, events, watches } = await lived(Number.POSITIVE_INFINITY);
  expect(events.map(({ type }) => type)).toEqual(['dispatch.parked']);
  // Every half minute it would be 2,600 times.
  expect(parkings).toBeLessThan(150);
  expect(questions).toBeLessThan(150);
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
