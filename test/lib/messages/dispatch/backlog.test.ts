import { expect, test } from 'vitest';
import {
  backlogEntryIn,
  backlogKey,
  backlogPartition,
  backlogShards,
  laterThanMs,
  newEntry,
} from '../../../../lib/messages/dispatch/backlog.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';

const acceptedAtMs = 1_800_000_000_000;
const head = makeDispatchHead({ dispatchId: 'J', phoneNumberId: '300000000000001', acceptedAtMs, correlationId: 'C' });
const facts = {
  ...{ phoneNumberId: '300000000000001', dispatchId: 'J', clientId: 1001, correlationId: 'C' },
  ...{ enteredAtMs: acceptedAtMs, notBeforeMs: acceptedAtMs, expiresAtSeconds: 1_802_592_000, slices: 1 },
};

test('an entry is stored where every version looks for it, and is read again', () => {
  expect(newEntry(head)).toEqual({ pk: 'BACKLOG#4', sk: '300000000000001#J', ...facts });
  expect(backlogEntryIn(newEntry(head))).toEqual(facts);
});

test.each([
  [laterThanMs, 'BACKLOG#4', '300000000000001#J'],
  [laterThanMs + 1, 'LATER#500000#4', '001800000900001#300000000000001#J'],
  [3 * 3_600_000, 'LATER#500003#4', '001800010800000#300000000000001#J'],
])('one of a dispatch whose time comes in %i ms stands in %s', (afterMs, pk, sk) => {
  const notBeforeMs = acceptedAtMs + afterMs;
  const entry = newEntry({ ...head, when: { asked: {}, fromMs: notBeforeMs } });
  expect(entry).toMatchObject({ pk, sk, notBeforeMs, enteredAtMs: acceptedAtMs });
});

test('numbers spread over all partitions', () => {
  const partitions = new Set(
    Array.from({ length: 200 }, (_, at) => backlogKey({ phoneNumberId: String(3e14 + at), dispatchId: 'J' }).pk),
  );
  expect([...partitions].sort()).toEqual(Array.from({ length: backlogShards }, (_, at) => backlogPartition(at)).sort());
});

test('no entry holds a recipient (D60)', () => {
  expect(Object.keys(newEntry(head)).sort()).toEqual(['pk', 'sk', ...Object.keys(facts)].sort());
});
