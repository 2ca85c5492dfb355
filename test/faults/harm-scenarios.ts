import { claimLifeMs, dispatchTimeoutMs, sendBudgetMs } from '../../lib/messages/dispatch/claim.ts';
import type { Effect } from './effects.ts';
import type { Scenario } from './scenario.ts';
import { dispatchMessage, startMs } from './scenario-job.ts';

/*
 * One harm each, and no more beside it than it takes to do damage: so an exploration ends within seconds, and a red one says
 * which harm it was. Clocks and late writes share the margin of a claim (claim.ts): who stretches one has none of the other.
 */

const one = { startMs, batchSize: 1, messages: [dispatchMessage(0)] } as const;
const lambda = { livesMs: [dispatchTimeoutMs] } as const;
const told = { statuses: ['delivered'], deliveries: 2, runs: 1, dispatchRuns: 1 } as const;
const late: readonly Effect[] = ['lands_late', 'again_late'];
/** Half of the margin, so that two clocks may be apart by all of it. */
const skewsMs = [0, 15_000, -15_000];

/** At whatever moment: by itself a late write never sends, nor lets anybody send. */
export const lateWrites: Scenario = {
  ...one,
  deliveries: 3,
  faults: 2,
  harm: {
    calls: { take: late, release: late, settle: late, recordBatch: late, sendLater: late, sendEvents: late },
    crash: true,
    reappear: true,
  },
};

export const lateWritesAndReceipts: Scenario = {
  ...one,
  deliveries: 2,
  faults: 2,
  platform: ['accepted', 'lost_after', 'throttled_yet_taken'],
  harm: {
    calls: { take: late, release: late, settle: late, recordBatch: late, mark: late, append: late, settleSeen: late },
  },
  receipts: told,
};

/** A batch record that is under way when its run is killed is there before anybody looks for it, whatever their clocks say. */
export const latestRecord: Scenario = {
  ...one,
  ...lambda,
  deliveries: 3,
  faults: 1,
  platform: ['accepted'],
  harm: { calls: { recordBatch: ['lands_late'] } },
  latestMs: 15_000,
  skewsMs: [0, 7_500, -7_500],
  stepsMs: [dispatchTimeoutMs - 1, 1, 14_999, 1, 15_000, 15_000],
};

export const deletedAndDelivered: Scenario = {
  ...one,
  ...lambda,
  deliveries: 4,
  faults: 2,
  harm: { survive: true },
  stepsMs: [dispatchTimeoutMs, 30_000],
};

export const lostRecord: Scenario = {
  ...one,
  messages: [dispatchMessage(0), dispatchMessage(1)],
  batchSize: 2,
  deliveries: 4,
  faults: 3,
  platform: ['accepted'],
  harm: { calls: { recordBatch: ['fails'] } },
};

export const lostRecordAndReceipts: Scenario = {
  ...one,
  deliveries: 2,
  faults: 3,
  platform: ['accepted'],
  harm: { calls: { recordBatch: ['fails', 'lands_late'] } },
  receipts: told,
};

export const clocksApart: Scenario = {
  ...one,
  ...lambda,
  deliveries: 3,
  faults: 1,
  harm: { reappear: true, crash: true },
  skewsMs,
  stepsMs: [dispatchTimeoutMs - 1, 1, dispatchTimeoutMs],
};

/** Runs begin with too little time, or have too little left once their claim is answered. */
export const littleTime: Scenario = {
  ...one,
  livesMs: [dispatchTimeoutMs, sendBudgetMs, sendBudgetMs - 1],
  deliveries: 3,
  faults: 1,
  platform: ['accepted', 'lost_before'],
  stepsMs: [dispatchTimeoutMs - sendBudgetMs + 1, dispatchTimeoutMs, dispatchTimeoutMs],
};

/** A message that is alone in its job, so that its end is told whoever settles it. */
export const byHand: Scenario = {
  ...one,
  ...lambda,
  messages: [dispatchMessage(0, { alone: true })],
  deliveries: 3,
  faults: 2,
  platform: ['accepted', 'lost_before', 'lost_after'],
  harm: {
    calls: { recordBatch: ['lands_late'], settle: late, settleByHand: ['reply_lost', 'lands_late'] },
    crash: true,
  },
  latestMs: 30_000,
  stepsMs: [dispatchTimeoutMs, 30_000],
  operator: { looks: 1 },
};

/** Runs die here without a fault: when they take too long. */
export const byHandAndReceipts: Scenario = {
  ...one,
  ...lambda,
  deliveries: 2,
  faults: 1,
  platform: ['lost_after'],
  harm: {},
  stepsMs: [claimLifeMs],
  operator: { looks: 1 },
  receipts: { ...told, deliveries: 1 },
};

/** Nothing goes wrong but that the SDK repeats writes whose first replies were lost. */
export const repeatedWrites: Scenario = {
  ...one,
  messages: [dispatchMessage(0), dispatchMessage(0)],
  batchSize: 2,
  deliveries: 4,
  faults: 2,
  platform: ['accepted'],
  harm: { calls: { take: ['repeated'], recordBatch: ['repeated'] } },
};

/** The same where claims are given back. */
export const repeatedReturns: Scenario = {
  ...one,
  deliveries: 4,
  faults: 3,
  platform: ['accepted', 'throttled', 'not_connected'],
  harm: {
    calls: { take: ['repeated'], release: ['repeated'], sendLater: ['repeated'], recordBatch: ['repeated'] },
  },
};

export const expiring: Scenario = {
  ...one,
  ...lambda,
  messages: [dispatchMessage(0, { expiresAtMs: startMs + 30_000 })],
  deliveries: 3,
  faults: 1,
  platform: ['accepted', 'throttled', 'lost_before'],
  skewsMs,
  stepsMs: [29_999, 1, 90_000],
};
