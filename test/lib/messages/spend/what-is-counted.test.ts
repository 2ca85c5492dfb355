import { expect, test } from 'vitest';
import type { Recorded, Slice } from '../../../../lib/messages/dispatch/slice.ts';
import { cancelOpenDispatch } from '../../../../lib/messages/report/cancel.ts';
import { endIsCounted } from '../../../../lib/messages/spend/count-ended.ts';
import { countReceipts } from '../../../../lib/messages/spend/count-receipts.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const sent: Recorded = { state: 'sent', platformMessageId: 'w' };
const failed: Recorded = { state: 'failed', code: 'platform_131026' };
const expired: Recorded = { state: 'expired', code: 'expired' };

test.each<[string, readonly Recorded[], true | undefined, boolean]>([
  ['what receipts will tell', [sent], true, false],
  ['what no receipt will tell', [sent], undefined, true],
  ['a failure, which no receipt tells', [sent, failed], true, true],
  ['what was too late', [expired], true, true],
  ['what is tried again', [{ state: 'again', dueMs: 1 }], true, false],
])('the end of a small request is counted: %s (D58)', (_, outcomes, receiptsExpected, expected) => {
  const callFacts = receiptsExpected === undefined ? {} : { receiptsExpected };
  const slice: Slice = {
    ...{ key: { dispatchId: 'J', slice: 0 }, try: 0, version: 2, owner: 'w', atMs: 1, state: 'ended' },
    outcomes,
  };
  expect(endIsCounted(callFacts, [slice])).toBe(expected);
});

test.each([
  ['sent', 1, []],
  ['delivered', 1, ['J']],
  ['failed', 1, ['J']],
  ['failed', 11, []],
])('a receipt that says %s of a request of %i is counted at once or not (D58)', async (status, total, expected) => {
  const head = makeDispatchHead({ dispatchId: 'J', total, receiptsExpected: true });
  const counted: string[] = [];
  const later: string[] = [];
  const receipt = { dispatchId: 'J', index: 0, status, atMs: 1, platformMessageId: 'w' };
  await countReceipts([{ head, receipts: [receipt] }], {
    stated: async () => new Map(),
    count: async (dispatchIds) => void counted.push(...dispatchIds),
    countLater: async ({ dispatchId }) => void later.push(dispatchId),
  });
  expect(counted).toEqual(expected);
  expect(later).toEqual(total > 10 ? ['J'] : []);
});

test.each([
  [{ units: 1 }, false, ['J']],
  [{ units: 1 }, true, ['J']],
  [undefined, false, []],
])(
  'a dispatch of a cancelled campaign that has reserved %j, stopped before: %s, is counted: %j (D53)',
  async (reserved, stoppedBefore, expected) => {
    const counted: string[] = [];
    const stop = { state: 'failed', code: 'cancelled', atMs: 1 } as const;
    const head = makeDispatchHead({ dispatchId: '01JD0000000000000000000000', total: 1 });
    const found = { head, repeats: [], recipients: new Map(), ...(reserved && { reserved }), stop, underWay: {} };
    const report = {
      findDescribed: async () =>
        (counted.length === 0 && !stoppedBefore ? { ...found, stop: undefined } : found) as never,
      readMessages: async () => ({ slices: new Map(), proofs: new Map(), askedAtMs: 1 }),
      reckon: async () => ({}),
    };
    const states = { of: async () => new Map(), stop: async () => !stoppedBefore };
    const countNow = async () => void counted.push('J');
    const ports = {
      report,
      states,
      countNow,
      wakeNumber: async () => undefined,
      nowMs: () => 1,
      log: () => undefined,
    };
    await cancelOpenDispatch(ports, head.dispatchId);
    expect(counted).toEqual(expected);
  },
);
