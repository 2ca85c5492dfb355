import { expect, test } from 'vitest';
import { type Did, didPattern, usableDid } from '../../../lib/access/directory.ts';
import { makeWaba } from '../../support/directory.ts';
import { refused } from '../../support/refused.ts';

const did: Did = {
  channel: {
    channelId: 501,
    did: '5491100000001',
    clientId: 1001,
    wabaId: '200000000000001',
    phoneNumberId: '300000000000001',
    name: 'Andes sales',
    throughputPerSecond: 1_000,
  },
  waba: makeWaba(),
};
const ownOnly: Did = { ...did, waba: makeWaba({ dids: 'own' }) };

test('a DID is usable by every client of its WABA, not by its own client alone (D5)', () => {
  expect(usableDid(did, 1001)).toBe(did);
  expect(usableDid(did, 1002)).toBe(did);
});

test('on a WABA that keeps each client to its own DIDs, only by its own client (D5)', () => {
  expect(usableDid(ownOnly, 1001)).toBe(ownOnly);
  const ofAnother = refused(() => usableDid(ownOnly, 1002));
  const ofNobody = refused(() => usableDid(undefined, 1002));
  expect([ofAnother.status, ofAnother.code, ofAnother.message]).toEqual([403, ofNobody.code, ofNobody.message]);
});

test('a client that has left the WABA cannot use even its own DID', () => {
  const left: Did = { ...did, waba: makeWaba({ dids: 'own', clientIds: [1002] }) };
  expect(refused(() => usableDid(left, 1001)).code).toBe('did_forbidden');
});

test('a refusal says what the rule is, and then the advice', () => {
  const rule = 'the did is outside the WABA hierarchy of the client';
  expect(refused(() => usableDid(undefined, 1001)).message).toBe(rule);
  expect(refused(() => usableDid(did, 1, '; ask for another')).message).toBe(`${rule}; ask for another`);
});

test('an unknown DID and a DID of another client are refused alike (D5)', () => {
  const ofNobody = refused(() => usableDid(undefined, 1001));
  const ofSomebody = refused(() => usableDid(did, 1));
  expect(ofNobody).toMatchObject({ code: 'did_forbidden', status: 403 });
  expect([ofSomebody.code, ofSomebody.message]).toEqual([ofNobody.code, ofNobody.message]);
});

test('a DID has 5 to 20 digits and nothing else', () => {
  const spelled = (text: string) => didPattern.test(text);
  expect(['1'.repeat(5), '1'.repeat(20)].map(spelled)).toEqual([true, true]);
  expect(['1'.repeat(4), '1'.repeat(21), '+54911', '54911 ', '54911\n', ''].map(spelled)).toEqual(Array(6).fill(false));
});
