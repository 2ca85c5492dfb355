import { describe, expect, test } from 'vitest';
import { claimed, ended, type Outcome, type Slice } from '../../../../lib/messages/dispatch/slice.ts';
import type { Receipt } from '../../../../lib/messages/receipts/receipt.ts';
import type { ProvenSlices } from '../../../../lib/messages/receipts/receipt-ports.ts';
import { settleSlices } from '../../../../lib/messages/receipts/settle-slices.ts';
import { countedBy } from '../../../support/counted.ts';
import { ReceiptWorld } from '../../../support/receipt-world.ts';
import { scenarioHead, startMs } from '../../../support/scenario-dispatch.ts';

const unknown: Outcome = { state: 'unknown', code: 'no_answer' };
const proven = { state: 'sent', code: 'receipt' } as const;

function sliceAt(slice: number, ...outcomes: readonly Slice['outcomes'][number][]): Slice {
  const claim = { key: { dispatchId: 'J', slice }, try: 0, owner: 'run-1', atMs: startMs, size: outcomes.length };
  return { ...ended(claimed(undefined, claim), new Map()), outcomes };
}

function receiptOf(index: number): Receipt {
  return { dispatchId: 'J', index, status: 'delivered', atMs: startMs, platformMessageId: 'wamid.1' };
}

/** The dispatch has slices in doubt, and a run has receipts for some of its messages. */
class Doubtful extends ReceiptWorld {
  metrics: unknown;

  constructor(...slices: readonly Slice[]) {
    super();
    this.table.put(...slices);
  }

  async settle(indexes: readonly number[], changes: Partial<ProvenSlices> = {}): Promise<Record<string, number>> {
    const { slices, ...ports } = this.ports([scenarioHead]);
    let resolved: ReturnType<typeof settleSlices> = Promise.resolve(new Map());
    this.metrics = await countedBy(() => {
      resolved = settleSlices(indexes.map(receiptOf), { ...ports, slices: { ...slices, ...changes } });
      return resolved;
    });
    return Object.fromEntries(await resolved);
  }
}

describe('what was unknown', () => {
  test('is settled, counted and logged once, and returned to be told: now, and in every later run', async () => {
    const world = new Doubtful(sliceAt(2, unknown, unknown, unknown));
    const settledAtMs = world.nowMs;
    expect(await world.settle([20, 22, 20])).toEqual({ 'J-20': settledAtMs, 'J-22': settledAtMs });
    expect(world.metrics).toMatchObject([{ MessagesResolved: 2 }]);
    expect(world.logged).toEqual(
      ['J-20', 'J-22'].map((messageId) => ({ event: 'receipts.resolved', facts: { messageId } })),
    );
    world.nowMs += 60_000;
    expect(await world.settle([22, 21])).toEqual({ 'J-21': world.nowMs, 'J-22': settledAtMs });
    expect(world.metrics).toMatchObject([{ MessagesResolved: 1 }]);
    expect(await world.settle([20])).toEqual({ 'J-20': settledAtMs });
    expect([world.metrics, world.logged.length]).toEqual([[], 3]);
  });

  test.each<[string, readonly Slice[]]>([
    ['that no worker has claimed', []],
    ['that is claimed', [sliceAt(0, undefined)]],
    ['that is tried again', [sliceAt(0, { state: 'again', dueMs: startMs })]],
    ['that a receipt proved before it could be unknown', [sliceAt(0, proven)]],
    ['that was refused', [sliceAt(0, { state: 'failed', code: '131026' })]],
    ['that an operator settled', [sliceAt(0, { state: 'sent', code: 'resolved_by_operator', resolvedAtMs: 1 })]],
    ['that an operator settled as failed', [sliceAt(0, { state: 'failed', code: 'receipt', resolvedAtMs: 1 })]],
  ])('is no message %s', async (_, slices) => {
    const world = new Doubtful(...slices);
    expect(await world.settle([0])).toEqual({});
    expect([world.metrics, world.logged]).toEqual([[], []]);
  });

  test('is settled in every slice, at most twenty at once, and slices are read together', async () => {
    const world = new Doubtful(...Array.from({ length: 50 }, (_, slice) => sliceAt(slice, unknown)));
    const { slices } = world.ports([]);
    const [writing, most] = [new Set<Slice>(), { atOnce: 0 }];
    const settle: ProvenSlices['settle'] = async (seen, ...others) => {
      writing.add(seen);
      most.atOnce = Math.max(most.atOnce, writing.size);
      await Promise.resolve();
      writing.delete(seen);
      return await slices.settle(seen, ...others);
    };
    const resolved = await world.settle(
      Array.from({ length: 60 }, (_, slice) => slice * 10),
      { settle },
    );
    expect(Object.keys(resolved)).toHaveLength(50);
    expect(most.atOnce).toBe(20);
    expect(world.calls.filter((name) => name === 'findSlices')).toHaveLength(1);
  });
});

describe('a slice that changes under the hand is looked at again', () => {
  test('and settled as it is then, those that did not change only once', async () => {
    const world = new Doubtful(sliceAt(0, unknown, unknown), sliceAt(1, unknown));
    const { slices } = world.ports([]);
    const asked: unknown[] = [];
    const settle: ProvenSlices['settle'] = async (seen, ...others) => {
      const isFirst = seen.key.slice === 0 && seen.version === sliceAt(0, unknown).version;
      // A worker that was about to emit was ahead with one of the two.
      if (isFirst)
        world.table.put({ ...seen, version: seen.version + 1, outcomes: [{ ...proven, resolvedAtMs: 7 }, unknown] });
      return await slices.settle(seen, ...others);
    };
    const findAll: ProvenSlices['findAll'] = async (keys) => {
      asked.push(keys.map(({ slice }) => slice));
      return await slices.findAll(keys);
    };
    expect(await world.settle([0, 1, 10], { settle, findAll })).toEqual({
      'J-0': 7,
      'J-1': world.nowMs,
      'J-10': world.nowMs,
    });
    expect(asked).toEqual([[0, 1], [0]]);
    expect(world.metrics).toMatchObject([{ MessagesResolved: 2 }]);
  });

  test('four times, and not for ever', async () => {
    const world = new Doubtful(sliceAt(0, unknown));
    let changes = 4;
    const settle: ProvenSlices['settle'] = async (...args) => {
      changes -= 1;
      return changes < 0 ? await world.ports([]).slices.settle(...args) : undefined;
    };
    expect(await world.settle([0], { settle })).toEqual({ 'J-0': world.nowMs });
    const never = new Doubtful(sliceAt(0, unknown), sliceAt(1, unknown));
    await expect(never.settle([0, 10], { settle: async () => undefined })).rejects.toThrow('2 slices keep changing');
  });
});
