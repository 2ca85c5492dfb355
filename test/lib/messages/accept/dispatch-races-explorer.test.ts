import { afterAll, beforeAll, expect, test } from 'vitest';
import { rememberedMs } from '../../../../lib/messages/accept/idempotency.ts';
import { explore } from '../../../support/exploration.ts';
import { restoreTimers, stopTimers } from '../../../support/fake-timers.ts';
import { firstUnlessThorough } from '../../../support/thorough.ts';
import type { Asked } from './dispatch-races-model.ts';
import { checkPromises } from './dispatch-races-promises.ts';
import { type Bounds, firstWorld, keyOf, runOverMs, successorsOf } from './dispatch-races-space.ts';

/**
 * Explores every order in which requests, with or without one Idempotency-Key, store, queue, list, begin and take back
 * a dispatch, while calls fail, repeat or land late, processes die or freeze, and time passes. Hanging calls are in
 * accept-in-time.test.ts.
 */

beforeAll(stopTimers);
afterAll(restoreTimers);

const large: Asked = { kind: 'large', keyed: true };
const straight: Asked = { kind: 'straight', keyed: true };
const checked: Asked = { ...straight, checked: true };
const retry: Asked = { kind: 'retry', keyed: true, wanted: [0, 1] };
const unkeyed: Asked = { ...retry, keyed: false };
const others: Asked = { ...unkeyed, wanted: [1, 2] };
const both: Asked = { ...unkeyed, wanted: [0, 2] };
const paused: Asked = { ...unkeyed, checked: true };
const once = { refusalsLeft: 0, waitsMs: [runOverMs] };
/** The look at the backlog withdraws what is undecided. */
const twice = { refusalsLeft: 0, waitsMs: [runOverMs, runOverMs] };
const never = { refusalsLeft: 0, waitsMs: [] };

const scenarios: readonly {
  readonly requests: readonly Asked[];
  readonly bounds: Bounds;
  readonly fewest: number;
  /** These codes come, for a send beside those of every send. */
  readonly codes?: readonly string[];
}[] = [
  { requests: [large, large], bounds: { ...twice, faultsLeft: 1 }, fewest: 5_000 },
  { requests: [large, large], bounds: { ...once, faultsLeft: 2 }, fewest: 50_000 },
  { requests: [straight, straight], bounds: { ...once, faultsLeft: 2 }, fewest: 20_000 },
  { requests: [{ ...large, keyed: false }], bounds: { ...twice, faultsLeft: 3 }, fewest: 300, codes: ['none'] },
  { requests: [{ ...straight, keyed: false }], bounds: { ...never, faultsLeft: 3 }, fewest: 100 },
  { requests: [large, large, large], bounds: { ...once, faultsLeft: 1 }, fewest: 50_000 },
  {
    requests: [straight, straight, straight],
    bounds: { faultsLeft: 1, refusalsLeft: 0, waitsMs: [runOverMs, runOverMs] },
    fewest: 50_000,
  },
  {
    requests: [straight, straight, large],
    bounds: { ...once, faultsLeft: 1 },
    fewest: 30_000,
    codes: ['idempotency_key_reused'],
  },
  {
    requests: [checked, checked],
    bounds: { faultsLeft: 2, refusalsLeft: 1, waitsMs: [runOverMs, runOverMs] },
    fewest: 100_000,
    codes: ['template_not_sendable'],
  },
  {
    requests: [checked, checked],
    bounds: { faultsLeft: 2, refusalsLeft: 1, waitsMs: [rememberedMs, runOverMs] },
    fewest: 100_000,
    codes: ['template_not_sendable'],
  },
];

/** These codes come to all retries at once, and the others when time passes too. */
const atOnce = ['200', 'OutOfReach', 'request_in_progress'];
const inTime = [...atOnce, 'dispatch_undecided', 'none', 'platform_unreachable'];
const retries: typeof scenarios = [
  { requests: [unkeyed, others], bounds: { ...once, faultsLeft: 1 }, fewest: 20_000, codes: inTime },
  {
    requests: [unkeyed, unkeyed],
    bounds: { ...once, faultsLeft: 2 },
    fewest: 50_000,
    codes: ['nothing_to_retry', 'dispatch_unavailable', ...inTime],
  },
  { requests: [retry, others], bounds: { ...once, faultsLeft: 1 }, fewest: 30_000, codes: inTime },
  {
    requests: [retry, unkeyed],
    bounds: { ...once, faultsLeft: 1 },
    fewest: 20_000,
    codes: ['nothing_to_retry', ...inTime],
  },
  { requests: [retry, retry], bounds: { ...once, faultsLeft: 1 }, fewest: 10_000, codes: inTime },
  {
    requests: [unkeyed, others, both],
    bounds: { ...never, faultsLeft: 1 },
    fewest: 100_000,
    codes: ['nothing_to_retry', ...atOnce],
  },
  {
    requests: [paused, { ...paused, wanted: [1, 2] }],
    bounds: { ...once, faultsLeft: 1, refusalsLeft: 1 },
    fewest: 20_000,
    codes: ['template_not_sendable', ...inTime],
  },
];

test.each(firstUnlessThorough(scenarios))(
  '$requests, $bounds.faultsLeft faults: one dispatch is sent at most, 502 is never sent, 200 is never lost, what begins can be read (R20, R21, D9, D25)',
  { timeout: 900_000 },
  explored,
);

test.each(firstUnlessThorough(retries))(
  '$requests, $bounds.faultsLeft faults: no recipient is in two retries, and one that no retry sends to can be retried (R55, D57)',
  { timeout: 900_000 },
  explored,
);

async function explored({ requests, bounds, fewest, codes = [] }: (typeof scenarios)[number]): Promise<void> {
  const met = new Set<string>();
  const states = await explore(firstWorld(requests, bounds), {
    successorsOf,
    keyOf,
    check: async (world) => {
      for (const { answer } of world.requests) if (answer !== undefined) met.add(answer.code);
      await checkPromises(world);
    },
  });
  const [first] = requests;
  const withKey = ['request_in_progress', 'platform_unreachable', 'none', 'OutOfReach'];
  const ofSend = ['200', 'dispatch_unavailable', 'dispatch_undecided', ...(first?.keyed ? withKey : [])];
  // An exploration that reaches too little must fail.
  expect([...met].sort()).toEqual([...(first?.kind === 'retry' ? [] : ofSend), ...codes].sort());
  expect(states).toBeGreaterThan(fewest);
}
