import { expect, test } from 'vitest';
import { type KeySets, rotationStep, wholeKeySets } from '../../../../lib/access/tokens/key-rotation.ts';
import { issueToken, tokenLifetimeSeconds, verifyToken } from '../../../../lib/access/tokens/token.ts';
import { keysKeptSeconds, signingKey, verificationKeys } from '../../../../lib/access/tokens/token-keys.ts';
import { keyPair } from '../../../support/keys.ts';

const [oldPair, newPair, thirdPair] = await Promise.all([keyPair(), keyPair(), keyPair()]);
const [oldKey, newKey, thirdKey] = [oldPair.private, newPair.private, thirdPair.private];
const start = 1_800_000_000;
const first = wholeKeySets({ signing: undefined, verification: undefined }, oldKey, start);
const scope = { issuer: 'issuer', audience: 'audience' };
const keyIds = ({ signing, verification }: KeySets) => [
  signing.keys.map(({ kid }) => kid),
  verification.keys.map(({ kid }) => kid),
];

/** Takes the step that must be due at the time, and returns the key sets after it. */
function taken(sets: KeySets, key: typeof newKey, atSeconds: number, step: string): KeySets {
  const due = rotationStep(sets, key, atSeconds);
  expect(due.step).toBe(step);
  return due.step === 'wait' ? sets : due.sets;
}

const published = taken(first, newKey, start + 100, 'publish');
const signs = taken(published, thirdKey, start + 700, 'sign');
const retired = taken(signs, thirdKey, start + 700 + 4_200, 'retire');

test('a rotation publishes, signs and retires, each no sooner than is safe (R39)', () => {
  expect(keyIds(first)).toEqual([[oldKey.kid], [oldKey.kid]]);
  expect(keyIds(published)).toEqual([
    [oldKey.kid, newKey.kid],
    [oldKey.kid, newKey.kid],
  ]);
  expect(keyIds(signs)).toEqual([[newKey.kid], [oldKey.kid, newKey.kid]]);
  expect(keyIds(retired)).toEqual([[newKey.kid], [newKey.kid]]);
  expect(rotationStep(published, thirdKey, start + 699)).toEqual({ step: 'wait', dueAtSeconds: start + 700 });
  expect(rotationStep(signs, thirdKey, start + 4_899)).toEqual({ step: 'wait', dueAtSeconds: start + 4_900 });
  expect(keyIds(taken(retired, thirdKey, start + 4_901, 'publish'))[1]).toEqual([newKey.kid, thirdKey.kid]);
});

test('public sets never hold a private half', () => {
  for (const sets of [first, published, signs, retired]) {
    expect(JSON.stringify(sets.verification)).not.toContain('"d"');
  }
});

test('a publication cut short is finished with the same key before that key signs', () => {
  const cutShort = { ...first, signing: published.signing };
  const finished = taken(cutShort, thirdKey, start + 10_000, 'publish');
  expect(keyIds(finished)).toEqual(keyIds(published));
  expect(rotationStep(finished, thirdKey, start + 10_001)).toEqual({ step: 'wait', dueAtSeconds: start + 10_600 });
});

test('key sets are completed: a signing key that is not published, a public set without its private one', () => {
  expect(wholeKeySets(first, newKey, start + 5)).toEqual(first);
  expect(wholeKeySets({ ...first, verification: undefined }, newKey, start)).toEqual(first);
  expect(keyIds(wholeKeySets({ ...first, signing: undefined }, newKey, start))).toEqual([
    [newKey.kid],
    [oldKey.kid, newKey.kid],
  ]);
});

test('no token is refused during a rotation, whatever keys its readers still hold; the old key ends with it (R39)', async () => {
  const history = [
    { from: start, sets: first },
    { from: start + 100, sets: published },
    { from: start + 700, sets: signs },
    { from: start + 4_900, sets: retired },
  ];
  const setsAt = (seconds: number) => history.findLast(({ from }) => from <= seconds)?.sets ?? first;
  const text = (value: unknown) => JSON.stringify(value);

  for (let at = start; at < start + 6_000; at += 100) {
    // Login and the authorizer may each use keys that are five minutes old.
    for (const loginReadAt of [at, at - keysKeptSeconds]) {
      const signing = await signingKey(text(setsAt(loginReadAt).signing));
      const token = await issueToken(signing, scope, {
        userId: 'u',
        clientId: 1,
        permissions: [],
        tokenId: 'id',
        nowMs: at * 1000,
      });
      for (const usedAt of [at, at + tokenLifetimeSeconds - 1]) {
        for (const readAt of [usedAt, usedAt - keysKeptSeconds]) {
          const keys = await verificationKeys(text(setsAt(readAt).verification));
          expect(await verifyToken(keys, scope, { token, nowMs: usedAt * 1000 }), `${at - start}`).toBeDefined();
        }
      }
    }
  }
  const late = await issueToken(await signingKey(text(first.signing)), scope, {
    userId: 'u',
    clientId: 1,
    permissions: [],
    tokenId: 'id',
    nowMs: (start + 4_900) * 1000,
  });
  const keys = await verificationKeys(text(retired.verification));
  expect(await verifyToken(keys, scope, { token: late, nowMs: (start + 4_900) * 1000 })).toBeUndefined();
});
