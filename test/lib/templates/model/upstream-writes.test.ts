import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packTransactions, writeUnits } from '../../../../lib/templates/model/upstream-writes.ts';
import { makeTemplate } from '../../../support/templates.ts';

const clientsFrom = (count: number) => Array.from({ length: count }, (_, index) => 1_000 + index);
const unitsFor = (name: string, clients: number) =>
  writeUnits(
    'templates',
    { kind: 'present', wabaId: '1', template: makeTemplate({ name }), clientIds: clientsFrom(clients), readAtMs: 1 },
    undefined,
  );

test.each([
  [0, [1]],
  [1, [2]],
  [99, [100]],
  [100, [100, 2]],
  [250, [100, 100, 53]],
])('%i clients: every slice of rows comes with the fact', (clients, actions) => {
  const units = unitsFor('order_update', clients);
  expect(units.map((unit) => unit.actions.length)).toEqual(actions);
  for (const unit of units) expect(unit.actions[0]?.Update?.Key).toMatchObject({ sk: 'FACT' });
});

test('transactions keep the order and every limit, and no item stands in one twice', () => {
  const anyUnits = fc.array(fc.record({ clients: fc.integer({ min: 0, max: 220 }), bytes: fc.nat(900_000) }), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(anyUnits, (sizes) => {
      const units = sizes.flatMap(({ clients, bytes }, index) =>
        unitsFor(`t_${index}`, clients).map((unit) => ({ ...unit, bytes })),
      );
      const transactions = packTransactions(units);
      expect(transactions.flat()).toEqual(units);
      for (const transaction of transactions) {
        const actions = transaction.flatMap((unit) => unit.actions);
        expect(transaction.length).toBeLessThanOrEqual(20);
        expect(actions.length).toBeLessThanOrEqual(100);
        expect(transaction.reduce((sum, unit) => sum + unit.bytes, 0)).toBeLessThanOrEqual(4_000_000);
        expect(new Set(actions.map((action) => JSON.stringify(action.Update?.Key))).size).toBe(actions.length);
      }
    }),
    { numRuns: 30 },
  );
});
