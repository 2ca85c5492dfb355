import { expect, test } from 'vitest';
import {
  listedKey,
  listedPartition,
  markKey,
  markKeysOf,
  nameOfPerson,
  personKey,
} from '../../../lib/opt-outs/opt-out-items.ts';
import { personNames } from '../../../lib/opt-outs/person-name.ts';

/**
 * These keys are stored for ever, and so is the digest: a name cannot be computed again, because numbers are not kept
 * (D60).
 */
const name = personNames(new Uint8Array(32))('5491155550001');

test.each<[string, object, object]>([
  ['a person', personKey(name), { pk: 'PERSON#r7sXQNQ9in_u81Q71GUwVuNqB32vcJX8F2NCg-Akicc', sk: 'OPTOUTS' }],
  ['the mark of a client', markKey({ kind: 'client', clientId: 7 }), { pk: 'OPTOUTS#client:7', sk: 'ANY' }],
  ['the mark of a WABA', markKey({ kind: 'waba', wabaId: '11' }), { pk: 'OPTOUTS#waba:11', sk: 'ANY' }],
  [
    "that of a number, its WABA's",
    markKey({ kind: 'number', phoneNumberId: '31', wabaId: '11' }),
    { pk: 'OPTOUTS#waba:11', sk: 'ANY' },
  ],
  ['one who is listed', listedKey(7, 'abc'), { pk: 'OPTOUTS#client:7', sk: 'PERSON#abc' }],
])('%s is stored where every version looks for it', (_, key, spelled) => {
  expect(key).toEqual(spelled);
});

test('a worker has two marks to look for, and reads a name out of its key', () => {
  expect(markKeysOf({ clientId: 7, wabaId: '11', phoneNumberId: '31' }).map(({ pk }) => pk)).toEqual([
    'OPTOUTS#client:7',
    'OPTOUTS#waba:11',
  ]);
  expect(nameOfPerson(personKey(name).pk)).toBe(name);
  expect(listedPartition(7)).toBe('OPTOUTS#client:7');
});
