import { expect, test } from 'vitest';
import { type Did, usableDid } from '../../../lib/access/directory.ts';
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
  waba: { wabaId: '200000000000001', name: 'Shared', namespace: 'ns', credential: 'demo', clientIds: [1001, 1002] },
};

test('a DID is usable by every client of its WABA, not by its own client alone (D5)', () => {
  expect(usableDid(did, 1001)).toBe(did);
  expect(usableDid(did, 1002)).toBe(did);
});

test('a DID of nobody and a DID of somebody else are refused alike (D5)', () => {
  const ofNobody = refused(() => usableDid(undefined, 1001));
  const ofSomebody = refused(() => usableDid(did, 1));
  expect(ofNobody).toMatchObject({ code: 'did_forbidden', status: 403 });
  expect([ofSomebody.code, ofSomebody.message]).toEqual([ofNobody.code, ofNobody.message]);
});
