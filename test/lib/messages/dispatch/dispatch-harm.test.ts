import { describe, expect, test } from 'vitest';
import { type Claim, invocationOf, resolvedByOperator, sendBudgetMs } from '../../../../lib/messages/dispatch/claim.ts';
import { type Action, isSlow } from '../../../faults/actions.ts';
import { type End, explore } from '../../../faults/explorer.ts';
import * as harm from '../../../faults/harm-scenarios.ts';
import { outcomeIn, reportedIn } from '../../../faults/outcome-in.ts';
import { checkCompleted, checkPromises } from '../../../faults/promises.ts';
import type { Scenario } from '../../../faults/scenario.ts';
import type { State } from '../../../faults/states.ts';

async function exploreChecked(scenario: Scenario, check: (state: State) => void = () => undefined) {
  const indexes = new Set(scenario.messages.map(({ index }) => index));
  return await explore(scenario, (state, before) => {
    for (const index of indexes) checkPromises(state, before, index);
    if (scenario.messages.some(({ alone }) => alone)) checkCompleted(state);
    // Where nobody outlives a claim, nobody is taken for lost whose record says otherwise.
    if (scenario.livesMs !== undefined) checkLost(state);
    check(state);
  });
}

function checkLost({ store }: State): void {
  for (const [id, { state, at }] of Object.entries(store.claims)) {
    const recorded = store.batches[invocationOf(at)]?.[id] !== undefined;
    if (state === 'unknown' && recorded) throw new Error(`R14: ${id} ended unknown and is recorded as sent`);
  }
}

function failedTimes(path: readonly Action[], call: string): number {
  return path.filter((action) => action.do === 'step' && action.name === call && action.effect !== 'ok').length;
}

/** Ends at which no delivery is left. */
function acknowledged(ends: readonly End[]): readonly End[] {
  return ends.filter(({ state }) => state.queue.length === 0);
}

function outcomesOf(ends: readonly End[]): Set<string> {
  return new Set(ends.map(({ state }) => outcomeIn(state, 0).state));
}

describe('a write that lands after its time-out sends nobody twice and loses nobody (R13, R14)', () => {
  test('at whatever moment', { timeout: 120_000 }, async () => {
    const { seen, ends } = await exploreChecked(harm.lateWrites);
    for (const call of ['take', 'release', 'settle', 'recordBatch', 'sendLater', 'sendEvents']) {
      expect(seen).toContain(`land ${call}`);
    }
    expect(outcomesOf(ends)).toEqual(new Set(['sent', 'failed', 'unknown', 'pending']));
    // A claim that lands when its run has given it up belongs to nobody: its message is never sent.
    const stray = acknowledged(ends).filter(({ path }) => failedTimes(path, 'take') > 0);
    expect(outcomesOf(stray)).toContain('unknown');
  });

  test('while receipts are counted (D39)', { timeout: 120_000 }, async () => {
    const { seen, ends } = await exploreChecked(harm.lateWritesAndReceipts);
    for (const call of ['take', 'release', 'settle', 'recordBatch', 'mark', 'append', 'settleSeen']) {
      expect(seen).toContain(`land ${call}`);
    }
    expect(ends.map(({ state }) => reportedIn(state, 0))).toContain('delivered');
  });

  test('of all, a batch record: no clock makes anybody look for it before it is there', async () => {
    const { seen, ends } = await exploreChecked(harm.latestRecord);
    expect(seen).toContain('land recordBatch');
    const landed = ends.filter(({ path }) => path.some((action) => action.do === 'land'));
    expect(outcomesOf(landed)).toEqual(new Set(['sent']));
  });
});

test('a message that the queue delivers once more after it was deleted is not sent again (R13)', async () => {
  const { seen, ends } = await exploreChecked(harm.deletedAndDelivered);
  expect(seen).toContain('survive');
  const survives = (action: Action) => action.do === 'acknowledge' && action.survives !== undefined;
  const again = acknowledged(ends).filter(({ path, state }) => path.some(survives) && !state.killed);
  expect(outcomesOf(again)).toEqual(new Set(['sent', 'failed', 'unknown']));
});

describe('a batch record that is not written', () => {
  test('is tried three times, and then everybody in it ends unknown and is told so (R14, D34)', async () => {
    const { ends } = await exploreChecked(harm.lostRecord);
    const lost = acknowledged(ends).filter(({ path }) => failedTimes(path, 'recordBatch') === 3);
    const written = acknowledged(ends).filter(({ path }) => failedTimes(path, 'recordBatch') < 3);
    expect(outcomesOf(written)).toEqual(new Set(['sent']));
    expect(outcomesOf(lost)).toContain('unknown');
    const together = lost.filter(({ state }) => [0, 1].every((index) => outcomeIn(state, index).state === 'unknown'));
    expect(together.length).toBeGreaterThan(0);
  });

  test('is made up for by receipts (D39)', async () => {
    const { ends } = await exploreChecked(harm.lostRecordAndReceipts);
    const lost = acknowledged(ends).filter(({ path }) => failedTimes(path, 'recordBatch') === 3);
    expect(new Set(lost.map(({ state }) => reportedIn(state, 0)))).toEqual(new Set(['delivered']));
    expect(lost.some(({ state }) => state.store.claims['J-0']?.code === 'receipt')).toBe(true);
  });
});

test('nobody is taken for dead who is at work, with clocks apart by the margin of a claim (R14)', async () => {
  const { ends } = await exploreChecked(harm.clocksApart);
  const met = ends.filter(({ path }) => {
    const skews = path.flatMap((action) => (action.do === 'deliver' ? [action.skewMs] : []));
    return skews.includes(15_000) && skews.includes(-15_000);
  });
  expect(outcomesOf(met)).toEqual(new Set(['sent', 'unknown']));
});

test('a run with too little time for a send, from the start or after a slow claim, leaves it to another (R14)', async () => {
  const { seen, ends } = await exploreChecked(harm.littleTime, ({ workers }) => {
    for (const worker of workers) {
      const claims = worker?.open.some(({ name }) => name === 'take');
      if (claims && (worker?.endsAtMs ?? 0) - (worker?.nowMs ?? 0) < sendBudgetMs) throw new Error('claimed in vain');
    }
  });
  expect(seen).toContain('release ok');
  const unharmed = acknowledged(ends).filter(({ state }) => state.faultsLeft === 1 && !state.killed);
  expect(outcomesOf(unharmed)).toEqual(new Set(['sent']));
  const short = (action: Action) => action.do === 'deliver' && action.lifeMs === sendBudgetMs - 1;
  expect(unharmed.some(({ path }) => path.some(short))).toBe(true);
});

describe('what an operator settles by hand', () => {
  const settles = (action: Action) => action.do === 'step' && action.name === 'settleByHand';

  test('is never sent, told or overwritten, whoever else is at work (R13, R14, D34)', {
    timeout: 120_000,
  }, async () => {
    const { seen, ends } = await exploreChecked(harm.byHand);
    for (const call of ['settle', 'recordBatch', 'settleByHand']) expect(seen).toContain(`land ${call}`);
    const byHand = ends.filter(({ state }) => state.store.claims['J-0']?.code === resolvedByOperator);
    expect(outcomesOf(byHand)).toEqual(new Set(['sent', 'failed']));
    // Somebody else was faster, and an operator's word is none any more.
    expect(ends.some((end) => end.path.some(settles) && !byHand.includes(end))).toBe(true);
  });

  test('gives way to receipts, and they to it (D39)', { timeout: 120_000 }, async () => {
    let overtaken = false;
    const { ends } = await exploreChecked(harm.byHandAndReceipts, ({ workers, store }) => {
      const [write] = workers.flatMap((worker) => worker?.open.filter(({ name }) => name === 'settleByHand') ?? []);
      const [seen] = (write?.args ?? []) as [Claim?];
      overtaken ||= seen !== undefined && store.claims['J-0']?.state === 'sent';
    });
    // Guards against an exploration that sees nothing: each has been first, also between the other's look and write.
    expect(overtaken).toBe(true);
    const codes = new Set(ends.map(({ state }) => state.store.claims['J-0']?.code));
    expect(codes).toEqual(new Set([resolvedByOperator, 'receipt']));
  });
});

describe('a write that the SDK repeats', () => {
  test.each([
    ['when a claim is taken or a batch recorded', harm.repeatedWrites],
    ['when a claim is given back', harm.repeatedReturns],
  ])('never keeps a message from being sent: %s (R16)', async (_, scenario) => {
    const { seen, ends } = await exploreChecked(scenario);
    for (const call of Object.keys(scenario.harm?.calls ?? {})) expect(seen).toContain(`${call} repeated`);
    const inTime = acknowledged(ends).filter(({ path }) => !isSlow(path));
    expect(outcomesOf(inTime)).toEqual(new Set(['sent']));
  });
});

test('what has expired by the clock of its run is never sent, and ends expired (D27)', async () => {
  const { ends } = await exploreChecked(harm.expiring);
  const unharmed = acknowledged(ends).filter(({ state }) => state.faultsLeft === 1 && !state.killed);
  expect(outcomesOf(unharmed)).toEqual(new Set(['sent', 'expired']));
  // Also those that were claimed in time.
  const late = ({ path }: End) => path.some((action) => action.do === 'step' && action.name === 'settle');
  expect(outcomesOf(unharmed.filter(late))).toEqual(new Set(['expired']));
});
