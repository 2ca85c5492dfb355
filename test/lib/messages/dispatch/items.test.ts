import { expect, test } from 'vitest';
import {
  acceptedKey,
  breakerKey,
  dispatchesPartition,
  dispatchKey,
  dispatchOfPartition,
  dispatchOfReceipts,
  dispatchSortKey,
  holdsKey,
  idempotencyKey,
  lookupCountKey,
  lookupKey,
  nextParameters,
  paceKey,
  parametersKey,
  placesKey,
  receiptGroupOf,
  receiptPartition,
  recipientsKey,
  replacedIdKey,
  senderKey,
  sentIdKey,
  unknownMarkKey,
  userIdOfReplaced,
} from '../../../../lib/messages/dispatch/items.ts';
import { sliceKeyOf, sliceOfSortKey, slicePartition } from '../../../../lib/messages/dispatch/slice-items.ts';

const dispatchId = '01K9ZQ4T5W8XJ7M2N3P4R5S6T7';
const at = Date.UTC(2026, 9, 1, 23, 59, 59, 999);

/** Items outlive versions (D47): every later version finds them by exactly these keys. */
test.each<[string, object, string]>([
  ['a dispatch', dispatchKey(dispatchId), 'DISPATCH#01K9ZQ4T5W8XJ7M2N3P4R5S6T7 DISPATCH'],
  ['its first slice', sliceKeyOf({ dispatchId, slice: 0 }), `DISPATCH#${dispatchId}#0 SLICE#0000`],
  ['the last slice of a partition', sliceKeyOf({ dispatchId, slice: 99 }), `DISPATCH#${dispatchId}#0 SLICE#0099`],
  ['the largest slice', sliceKeyOf({ dispatchId, slice: 999 }), `DISPATCH#${dispatchId}#9 SLICE#0999`],
  [
    'an idempotency record',
    idempotencyKey({ clientId: 1001, did: '5491100000001', key: 'order 7' }),
    'IDEMPOTENCY#1001#5491100000001#D8ifiuGTlLSN69Y1O7mtM5PzvHkZMVGfGdF2p-VRPrw IDEMPOTENCY',
  ],
  ['a question', lookupKey('abc'), 'QUESTION#abc QUESTION'],
  ['the turns of a client', lookupCountKey(1001), 'QUESTIONS#1001 QUESTIONS'],
  ['an acceptance', acceptedKey(dispatchId), `DISPATCH#${dispatchId} ACCEPTED`],
  ['its recipients', recipientsKey(dispatchId, 250), `DISPATCH#${dispatchId} RECIPIENTS#250`],
  ['the first parameters of a dispatch', parametersKey({ dispatchId, index: 0 }), `PARAMS#${dispatchId}#0 00000`],
  ['the last ones of a partition', parametersKey({ dispatchId, index: 624 }), `PARAMS#${dispatchId}#0 00624`],
  ['the largest ones', parametersKey({ dispatchId, index: 9_999 }), `PARAMS#${dispatchId}#15 09999`],
  ['a doubt', unknownMarkKey(dispatchId), `DISPATCH#${dispatchId} DOUBT`],
  ['the pace of a number', paceKey('300000000000001'), 'PACE#300000000000001 PACE'],
  [
    'its places of a second',
    placesKey({ phoneNumberId: '300000000000001', second: 1_800_000_000, share: 'free' }),
    'PLACES#300000000000001#1800000000 free',
  ],
  [
    'the lease of a sender',
    senderKey({ phoneNumberId: '300000000000001', part: 7 }),
    'SENDER#300000000000001#7 SENDER',
  ],
  ['a replaced user id', replacedIdKey('200000000000001', 'US.ENT.1aB'), 'USERID#200000000000001#US.ENT.1aB REPLACED'],
  [
    "a platform's id",
    sentIdKey({ wabaId: '200000000000001', phoneNumberId: '300000000000001', platformMessageId: 'wamid.1' }),
    'SENT#j3hrzudxvl2lbthycltycr7rti SENT',
  ],
  ['the breaker', breakerKey, 'PLATFORM BREAKER'],
  ['the holds of a WABA', holdsKey('200000000000001'), 'WABA#200000000000001 HOLDS'],
])('%s is stored where every version looks for it', (_, key, spelled) => {
  const [pk, sk] = spelled.split(' ');
  expect(key).toEqual({ pk, sk });
});

test('a replaced user id is read out of its key', () => {
  expect(userIdOfReplaced(replacedIdKey('200000000000001', 'US.ENT.1aB').pk)).toBe('US.ENT.1aB');
});

test('a client has its dispatches for itself', () => {
  expect(dispatchesPartition(1001)).toBe('DISPATCHES#1001');
});

test.each([
  [0, 0],
  [999, 0],
  [1_000, 1],
  [9_999, 9],
])('the receipts of message %i are in group %i of its dispatch', (index, group) => {
  expect(receiptPartition(dispatchId, receiptGroupOf(index))).toBe(`RECEIPTS#${dispatchId}#${group}`);
});

test.each([
  [0, 625],
  [624, 625],
  [625, 1_250],
])('the parameters of recipient %i share a partition with those before %i', (index, next) => {
  expect(nextParameters(index)).toBe(next);
});

test('dispatches sort by the time of their acceptance, and a bare time comes before its dispatches', () => {
  expect(dispatchSortKey(at, dispatchId)).toBe('001790899199999#01K9ZQ4T5W8XJ7M2N3P4R5S6T7');
  expect(dispatchSortKey(at)).toBe('001790899199999#');
});

test('slices, receipts and what is written of a dispatch as a whole are found by the dispatch', () => {
  expect(slicePartition(dispatchId, 1)).toBe(sliceKeyOf({ dispatchId, slice: 100 }).pk);
  expect(sliceOfSortKey(sliceKeyOf({ dispatchId, slice: 234 }).sk)).toBe(234);
  expect(dispatchOfReceipts(receiptPartition(dispatchId, 10))).toBe(dispatchId);
  expect([dispatchOfPartition(dispatchKey(dispatchId).pk), dispatchOfPartition(unknownMarkKey(dispatchId).pk)]).toEqual(
    [dispatchId, dispatchId],
  );
});
