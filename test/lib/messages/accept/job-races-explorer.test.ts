import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { explore } from '../../../support/exploration.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import { jobIdOf, jobIn, type Kind, type Request } from './job-races-model.ts';
import { afterOneMore, firstWorld, isLive, keyOf, noAnswer, successorsOf, type World } from './job-races-space.ts';

/*
 * Every order in which a job is stored, queued, listed, begun and taken back, by requests with one Idempotency-Key or without:
 * a call fails, or its reply is lost, or the SDK repeats it, or it lands at any time after its run has given it up; a process
 * dies at any call, or is frozen there for 35 s; the fan-out or a worker comes to what is queued at any moment, and may die between claim and begin. That
 * the conditions of the stores are those of the model is shown in accepted-jobs.adapter.test.ts.
 */
const realTimers = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout };

/** No clock of a request ever goes on by itself: giving up and passing time are steps of the exploration. */
beforeAll(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  Object.assign(timers, { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout });
  syncBuiltinESMExports();
  vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(() => new AbortController().signal);
});
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.assign(timers, realTimers);
  syncBuiltinESMExports();
});

/** What may not be at any moment. */
function checkNow({ requests }: World): void {
  const came = requests.flatMap((request, place) => (request.startedAtMs === undefined ? [] : [{ ...request, place }]));
  const isSent = ({ job }: Request) => job.begun || job.claimed;
  for (const request of came) {
    const { kind, answer, job, place } = request;
    const { stored, described, queued, withdrawn, listed } = job;
    if (isSent(request)) {
      if (!queued) throw new Error(`D25: the job of request ${place} has begun and is not queued`);
      if (withdrawn) throw new Error(`D25: the job of request ${place} is taken back, and sent and told of`);
      if (kind === 'large' && !(stored && described)) throw new Error(`the job of request ${place} cannot be read`);
    }
    if (listed && !withdrawn && !queued)
      throw new Error(`D40: the job of request ${place} is listed, and never queued`);
    if (answer === undefined || answer === noAnswer || answer.code === 'dispatch_undecided') continue;
    if (answer.code !== '200') {
      if (isSent(request)) throw new Error(`D25: request ${place} is answered ${answer.code}, and sent`);
      continue;
    }
    const made = requests.find((_, at) => jobIdOf(at) === answer.jobId) as Request;
    if (!made.job.queued) throw new Error(`D25: request ${place} is told 200, and its job is not queued`);
    if (made.job.withdrawn && (made.job.completed || !made.keyed)) {
      throw new Error(`D25: request ${place} was told 200, and its job is taken back`);
    }
  }
  const keyed = came.filter((request) => request.keyed);
  if (keyed.filter(isSent).length > 1) throw new Error('R21: two jobs of one key are sent');
}

/** Throws where a promise is broken now, or would be if nothing failed any more. */
async function check(world: World): Promise<void> {
  checkNow(world);
  if (world.late.length > 0 || world.requests.some(isLive)) return;
  const end = await afterOneMore(world, world.requests[0] as Request);
  checkNow(end);
  const last = end.requests.at(-1)?.answer;
  if (last?.code !== '200') throw new Error(`D9: the same request once more is answered ${JSON.stringify(last)}`);
  for (const { answer } of end.requests) {
    if (answer?.code !== '200') continue;
    const { begun, listed, withdrawn } = jobIn(end, answer.jobId ?? '');
    if (!withdrawn && !(begun && listed)) throw new Error('D25: a job that was answered 200 is lost');
  }
}

const scenarios: readonly {
  readonly kind: Kind;
  readonly keyed: boolean;
  readonly requests: number;
  readonly bounds: Pick<World, 'faultsLeft' | 'waitsLeft'>;
  readonly fewest: number;
}[] = [
  { kind: 'large', keyed: true, requests: 2, bounds: { faultsLeft: 1, waitsLeft: 1 }, fewest: 5_000 },
  { kind: 'large', keyed: true, requests: 2, bounds: { faultsLeft: 2, waitsLeft: 1 }, fewest: 50_000 },
  { kind: 'straight', keyed: true, requests: 2, bounds: { faultsLeft: 2, waitsLeft: 1 }, fewest: 20_000 },
  { kind: 'large', keyed: false, requests: 1, bounds: { faultsLeft: 3, waitsLeft: 0 }, fewest: 300 },
  { kind: 'straight', keyed: false, requests: 1, bounds: { faultsLeft: 3, waitsLeft: 0 }, fewest: 100 },
  { kind: 'large', keyed: true, requests: 3, bounds: { faultsLeft: 1, waitsLeft: 1 }, fewest: 50_000 },
  { kind: 'straight', keyed: true, requests: 3, bounds: { faultsLeft: 1, waitsLeft: 1 }, fewest: 30_000 },
];

test.each(firstUnlessThorough(scenarios))(
  '$requests $kind, with a key: $keyed, $bounds.faultsLeft faults: 502 is never sent, 200 is never lost, what begins can be read (R20, R21, D9, D25)',
  { timeout: 240_000 },
  async ({ kind, keyed, requests, bounds, fewest }) => {
    const met = new Set<string>();
    const first = firstWorld(Array(requests).fill({ kind, keyed }), bounds);
    const states = await explore(first, {
      successorsOf,
      keyOf,
      check: async (world) => {
        for (const { answer } of world.requests) if (answer !== undefined) met.add(answer.code);
        await check(world);
      },
    });
    // Guards against an exploration that sees nothing.
    const withKey = ['request_in_progress', 'platform_unreachable', 'none', 'Error'];
    const codes = ['200', 'dispatch_unavailable', 'dispatch_undecided', ...(keyed ? withKey : [])];
    expect([...met].sort()).toEqual(codes.sort());
    expect(states).toBeGreaterThan(fewest);
  },
);
