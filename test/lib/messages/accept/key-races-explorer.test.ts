import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { rememberedMs } from '../../../../lib/messages/accept/idempotency.ts';
import { explore } from '../../../support/exploration.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import type { BodyName } from './key-races-model.ts';
import { checkPromises } from './key-races-promises.ts';
import { firstWorld, keyOf, runOverMs, successorsOf, type World } from './key-races-space.ts';

/*
 * Every order in which requests with one Idempotency-Key meet, through the real page: a call fails, or its reply is lost, or
 * the SDK repeats it, or it lands at any time after its run has given it up; a process dies at any call; the template is
 * paused; the fan-out begins what it finds; time passes, until a run must be over, or the key is forgotten. That the conditions
 * of the stores are those of the model is shown in idempotency.adapter.test.ts and acceptance-store.adapter.test.ts; what a
 * call does that hangs, at every moment, in accept-in-time.test.ts.
 */
const realTimers = { setTimeout: timers.setTimeout, clearTimeout: timers.clearTimeout };

/** No clock of the page ever goes on by itself: giving up and passing time are steps of the exploration. */
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

const scenarios: readonly {
  readonly name: string;
  readonly requests: readonly BodyName[];
  readonly bounds: Pick<World, 'faultsLeft' | 'refusalsLeft' | 'waitsMs'>;
  /** Beside those that every scenario meets. */
  readonly codes: readonly string[];
}[] = [
  {
    name: 'two with the same body',
    requests: ['a', 'a'],
    bounds: { faultsLeft: 2, refusalsLeft: 1, waitsMs: [runOverMs, runOverMs] },
    codes: ['template_not_sendable'],
  },
  {
    name: 'two with the same body of several recipients',
    requests: ['b', 'b'],
    bounds: { faultsLeft: 2, refusalsLeft: 0, waitsMs: [runOverMs] },
    codes: [],
  },
  {
    name: 'three with the same body',
    requests: ['a', 'a', 'a'],
    bounds: { faultsLeft: 1, refusalsLeft: 0, waitsMs: [runOverMs, runOverMs] },
    codes: [],
  },
  {
    name: 'two with one body, one with another',
    requests: ['a', 'a', 'b'],
    bounds: { faultsLeft: 1, refusalsLeft: 0, waitsMs: [runOverMs] },
    codes: ['idempotency_key_reused'],
  },
  {
    name: 'two with one body, and the key forgotten',
    requests: ['a', 'a'],
    bounds: { faultsLeft: 2, refusalsLeft: 1, waitsMs: [rememberedMs, runOverMs] },
    codes: ['template_not_sendable'],
  },
];

test.each(firstUnlessThorough(scenarios))(
  '$name: one job is sent at most, whoever is told 200 is told that one, 502 is told of none (R20, R21, D9, D25)',
  { timeout: 240_000 },
  async ({ requests, bounds, codes }) => {
    const met = new Set<string>();
    const check = async (world: World) => {
      for (const { answer } of world.requests) met.add(answer?.code ?? String(answer?.status));
      await checkPromises(world);
    };
    const states = await explore(firstWorld(requests, bounds), { successorsOf, keyOf, check });
    // Guards against an exploration that sees nothing.
    const everywhere = [
      '200',
      'request_in_progress',
      'dispatch_unavailable',
      'dispatch_undecided',
      'platform_unreachable',
    ];
    expect([...met].sort()).toEqual([...everywhere, 'internal_error', 'undefined', ...codes].sort());
    expect(states).toBeGreaterThan(15_000);
  },
);
