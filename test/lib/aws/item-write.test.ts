import { describe, expect, test } from 'vitest';
import {
  above,
  absent,
  after,
  anyOf,
  atMost,
  below,
  checkOf,
  equals,
  type ItemWrite,
  present,
  unlessThere,
  updateOf,
} from '../../../lib/aws/item-write.ts';

interface Fields {
  readonly name?: string;
  readonly size?: number;
  readonly held?: { readonly owner: string; readonly untilMs?: number; readonly goesOn?: true };
  readonly tags?: ReadonlySet<string>;
}

const written = (write: ItemWrite<Fields>, item?: Fields) => after(write, item);

describe('what a write makes of an item', () => {
  test.each<[string, ItemWrite<Fields>['if'], Fields | undefined, boolean]>([
    ['absent, no item', [absent('name')], undefined, true],
    ['absent, there', [absent('name')], { name: 'a' }, false],
    ['present', [present('held.owner')], { held: { owner: 'a' } }, true],
    ['present, not in the map', [present('held.untilMs')], { held: { owner: 'a' } }, false],
    ['equal', [equals('held.owner', 'a')], { held: { owner: 'a' } }, true],
    ['equal, absent', [equals('held.owner', 'a')], {}, false],
    ['below', [below('size', 3)], { size: 3 }, false],
    ['at most', [atMost('size', 3)], { size: 3 }, true],
    ['at most, absent', [atMost('size', 3)], {}, false],
    ['above', [above('size', 3)], { size: 3 }, false],
    ['above', [above('size', 3)], { size: 4 }, true],
    ['all of them', [present('name'), present('size')], { name: 'a' }, false],
    ['one of several', [anyOf([absent('name')], [equals('name', 'a'), present('size')])], { name: 'a', size: 1 }, true],
    ['one of several, a half', [anyOf([absent('name')], [equals('name', 'a'), present('size')])], { name: 'a' }, false],
  ])('%s', (_, conditions, item, isWritten) => {
    expect(written({ if: conditions, set: { size: 9 } }, item)).toEqual({
      written: isWritten,
      item: isWritten ? { ...item, size: 9 } : item,
    });
  });

  test('sets, keeps, removes and adds; what is undefined is left out', () => {
    const write: ItemWrite<Fields> = {
      if: [],
      set: { name: undefined, size: unlessThere(5), 'held.goesOn': true },
      remove: ['name'],
      add: { tags: new Set(['b']) },
    };
    const item = { name: 'n', held: { owner: 'a' }, tags: new Set(['a']) };
    const next = { size: 5, held: { owner: 'a', goesOn: true }, tags: new Set(['a', 'b']) };
    expect(written(write, item)).toEqual({ written: true, item: next });
    expect(written(write, { ...item, size: 1 }).item).toMatchObject({ size: 1 });
    expect(item).toEqual({ name: 'n', held: { owner: 'a' }, tags: new Set(['a']) });
  });

  test('one that meets itself counts as written', () => {
    const write: ItemWrite<Fields> = { if: [absent('name')], set: { name: 'a' }, own: [equals('name', 'a')] };
    expect(written(write, { name: 'a' })).toEqual({ written: true, item: { name: 'a' } });
    expect(written(write, { name: 'b' })).toEqual({ written: false, item: { name: 'b' } });
  });
});

test('every name and value of a request has an alias', () => {
  const write: ItemWrite<Fields> = {
    if: [absent('name'), anyOf([atMost('held.untilMs', 7)], [present('size')])],
    set: { size: unlessThere(5), name: 'a' },
    remove: ['held'],
    add: { tags: new Set(['b']) },
  };
  expect(updateOf(write)).toEqual({
    UpdateExpression: 'SET #size = if_not_exists(#size, :0), #name = :1 REMOVE #held ADD #tags :2',
    ConditionExpression: 'attribute_not_exists(#name) AND (#held.#untilMs <= :3 OR attribute_exists(#size))',
    ExpressionAttributeNames: {
      '#name': 'name',
      '#held': 'held',
      '#untilMs': 'untilMs',
      '#size': 'size',
      '#tags': 'tags',
    },
    ExpressionAttributeValues: { ':0': 5, ':1': 'a', ':2': new Set(['b']), ':3': 7 },
  });
  expect(checkOf([absent('name')])).toEqual({
    ConditionExpression: 'attribute_not_exists(#name)',
    ExpressionAttributeNames: { '#name': 'name' },
    ExpressionAttributeValues: undefined,
  });
});
