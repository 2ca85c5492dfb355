import { describe, expect, test } from 'vitest';
import type { Claim } from '../../../../lib/messages/dispatch/claim.ts';
import type { ProvenClaims } from '../../../../lib/messages/receipts/record-ports.ts';
import { settleClaims } from '../../../../lib/messages/receipts/settle-claims.ts';
import { scenarioHead, startMs } from '../../../faults/scenario-job.ts';
import { countedBy } from '../../../support/counted.ts';
import { DispatchWorld } from '../../../support/dispatch-ports.ts';

const proven = { state: 'sent', code: 'receipt' } as const;

function claim(index: number, changes: Partial<Claim> = {}): Claim {
  return { key: { jobId: 'J', index }, state: 'claimed', at: 'run-1/0', claimedAtMs: startMs, ...changes };
}

/** Claims of a job in doubt, and a run of receipts of so many of its messages. */
class Doubtful extends DispatchWorld {
  readonly asked: (readonly string[])[] = [];
  metrics: unknown;

  constructor(claims: readonly Claim[]) {
    super();
    this.store = { ...this.store, claims: Object.fromEntries(claims.map((each) => [`J-${each.key.index}`, each])) };
  }

  async settle(count: number, changes: Partial<ProvenClaims> = {}): Promise<Claim[]> {
    const { claims, ...ports } = this.receiptPorts([scenarioHead]);
    const findBatchRecords: ProvenClaims['findBatchRecords'] = async (invocations) => {
      this.asked.push(invocations);
      return await claims.findBatchRecords(invocations);
    };
    const keys = Array.from({ length: count }, (_, index) => ({ jobId: 'J', index }));
    let resolved: Promise<Claim[]> = Promise.resolve([]);
    this.metrics = await countedBy(() => {
      resolved = settleClaims(keys, { ...ports, claims: { ...claims, findBatchRecords, ...changes } });
      return resolved;
    });
    return await resolved;
  }
}

describe('what was unknown', () => {
  test('is settled, counted and logged once, and returned to be told: now, and in every later run', async () => {
    const unknown = claim(0, { state: 'unknown', code: 'no_answer' });
    const world = new Doubtful([unknown]);
    const resolved = { ...unknown, ...proven, resolvedAtMs: world.nowMs };
    expect(await world.settle(1)).toEqual([resolved]);
    expect(world.metrics).toMatchObject([{ MessagesResolved: 1 }]);
    expect(world.logged).toEqual([{ event: 'receipts.resolved', facts: { dispatchId: 'J-0' } }]);
    expect(await world.settle(1)).toEqual([resolved]);
    expect([world.metrics, world.logged.length]).toEqual([[], 1]);
  });

  test.each<[string, Claim[]]>([
    ['that was given back', []],
    ['that is claimed, and in no batch record', [claim(0)]],
    ['that a receipt settled before it could be unknown', [claim(0, proven)]],
    ['that was refused', [claim(0, { state: 'failed', code: '131026' })]],
    ['that an operator settled', [claim(0, { state: 'sent', code: 'resolved_by_operator', resolvedAtMs: 1 })]],
  ])('is no message %s', async (_, claims) => {
    const world = new Doubtful(claims);
    expect(await world.settle(1)).toEqual([]);
    expect([world.metrics, world.logged]).toEqual([[], []]);
  });
});

describe('batch records are read', () => {
  test('of what is claimed, each once', async () => {
    const world = new Doubtful([
      claim(0, { at: 'run-1/0' }),
      claim(1, { at: 'run-1/1' }),
      claim(2, { at: 'run-2/0' }),
      claim(3, { at: 'run-3/0', state: 'unknown' }),
    ]);
    await world.settle(4);
    expect(world.asked).toEqual([['run-1', 'run-2']]);
  });

  test('of nothing else', async () => {
    const world = new Doubtful([claim(0, { state: 'unknown' })]);
    await world.settle(2);
    expect(world.asked).toEqual([]);
  });
});

describe('a claim that changes under the hand is looked at again', () => {
  test('when somebody takes it that was not there', async () => {
    const world = new Doubtful([]);
    const theirs = claim(0, { at: 'run-2/0' });
    const take: ProvenClaims['take'] = async () => {
      await world.claims.take(theirs);
      return theirs;
    };
    expect(await world.settle(1, { take })).toEqual([]);
    expect(world.store.claims['J-0']).toEqual({ ...theirs, ...proven });
  });

  test('nine times, and not for ever', async () => {
    for (const state of ['claimed', 'unknown'] as const) {
      const world = new Doubtful([claim(0, { state })]);
      let changes = 9;
      const settleSeen: ProvenClaims['settleSeen'] = async (...args) => {
        changes -= 1;
        return changes < 0 && (await world.receiptPorts([]).claims.settleSeen(...args));
      };
      await world.settle(1, { settleSeen });
      expect(world.store.claims['J-0']).toMatchObject(proven);
      const never = new Doubtful([claim(0, { state })]);
      await expect(never.settle(1, { settleSeen: async () => false })).rejects.toThrow('1 claims keep changing');
    }
  });
});
