import { expect, test } from 'vitest';
import {
  archiveKey,
  clientOfRow,
  factKey,
  fenceAttribute,
  heldNameKey,
  isFact,
  lockKey,
  rowKey,
  rowPartitionPattern,
  rowPartitions,
  templateKeyOfFact,
  templateKeyOfRow,
  walkKey,
} from '../../../../lib/templates/model/items.ts';
import { templateKey } from '../../../../lib/templates/model/template-key.ts';

const place = { wabaId: '200000000000001', name: 'order_update' };
const key = templateKey({ ...place, language: 'es_AR' });
const archived = archiveKey(key, '1400000000000001');

/** Items outlive versions (D47): every later version finds them by exactly these keys. */
test.each<[string, object, object]>([
  ['a fact', factKey(key), { pk: 'FACT#bsf5qm5cd3cjochf', sk: 'FACT' }],
  ['an archived fact', factKey(archived), { pk: 'FACT#bsf5qm5cd3cjochf#1400000000000001', sk: 'FACT' }],
  ['a row', rowKey(1001, key), { pk: 'C#1001#2', sk: 'bsf5qm5cd3cjochf' }],
  ['rows of every shard', rowPartitions(7), ['C#7#0', 'C#7#1', 'C#7#2', 'C#7#3']],
  ['a row of a key that begins with a', rowKey(7, 'abc'), { pk: 'C#7#1', sk: 'abc' }],
  ['a row of a key that begins with 7', rowKey(7, '7bc'), { pk: 'C#7#3', sk: '7bc' }],
  ['a held name', heldNameKey(place), { pk: 'NAME#agn73ihrv367n42f', sk: 'NAME' }],
  ['the lock of the deployment', lockKey('sync'), { pk: 'LOCK#sync', sk: 'LOCK' }],
  ['the lock of a client', lockKey('sync#1001'), { pk: 'LOCK#sync#1001', sk: 'LOCK' }],
  ['the walk', walkKey, { pk: 'WALK#sync', sk: 'WALK' }],
])('%s is stored where every version looks for it', (_, found, spelled) => {
  expect(found).toEqual(spelled);
});

test('the fence of a lock is the attribute that every version compares', () => {
  expect(fenceAttribute('sync#1001')).toBe('syncFence#sync#1001');
});

test('keys are read as they are spelled', () => {
  expect(templateKeyOfFact(factKey(archived).pk)).toBe(archived);
  expect([templateKeyOfRow(key), templateKeyOfRow(archived)]).toEqual([key, key]);
  expect([isFact(factKey(key)), isFact(rowKey(7, key)), isFact(heldNameKey(place))]).toEqual([true, false, false]);
  for (const partition of rowPartitions(1001)) {
    expect(partition).toMatch(rowPartitionPattern);
    expect(clientOfRow(partition)).toBe(1001);
  }
});
