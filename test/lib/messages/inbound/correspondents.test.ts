import { expect, test } from 'vitest';
import {
  groupsOf,
  groupsOfDispatch,
  isAmong,
  mostGroups,
  shortName,
  shortNameBytes,
} from '../../../../lib/messages/inbound/correspondents.ts';
import { personNames } from '../../../../lib/opt-outs/person-name.ts';

const nameOf = personNames(Buffer.alloc(32, 5));
const people = (count: number) => Array.from({ length: count }, (_, at) => nameOf(String(5_491_155_550_000 + at)));

test.each([1, mostGroups, mostGroups + 1, 10_000])(
  'of a dispatch to %d people each is found where a reader looks',
  (count) => {
    const names = people(count);
    const groups = groupsOfDispatch(names);
    expect(groups.size).toBeLessThanOrEqual(mostGroups);
    const bytes = [...groups.values()].reduce((sum, { length }) => sum + length, 0);
    expect(bytes).toBe(count * shortNameBytes);
    for (const name of [names[0], names.at(-1)].map((each) => shortName(each ?? ''))) {
      const found = groupsOf(name).flatMap((group) => groups.get(group) ?? []);
      expect(found.map((packed) => isAmong(packed, name))).toEqual([true]);
    }
    const stranger = shortName(nameOf('16505551234'));
    expect(groupsOf(stranger).some((group) => isAmong(groups.get(group) ?? Buffer.of(), stranger))).toBe(false);
  },
);

test('a person to whom a dispatch writes twice is in it once', () => {
  const [name = ''] = people(1);
  expect([...groupsOfDispatch([name, name])].map(([, packed]) => packed.length)).toEqual([shortNameBytes]);
});

test('a match across the bytes of two people is no person', () => {
  const [one, other] = [Buffer.from('0102030405060708', 'hex'), Buffer.from('0910111213141516', 'hex')];
  const across = Buffer.from('0506070809101112', 'hex');
  expect(isAmong(Buffer.concat([one, other]), across)).toBe(false);
  expect(isAmong(Buffer.concat([one, other, across]), across)).toBe(true);
});
