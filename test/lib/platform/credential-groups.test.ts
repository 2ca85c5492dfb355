import { expect, test } from 'vitest';
import {
  credentialSecrets,
  groupCredentials,
  groupOf,
  groupSuffix,
  maxSecretBytes,
  storedCredentials,
} from '../../../lib/platform/credential-groups.ts';

/** Tokens have the platform's length. */
function credentials(count: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => [
      `waba-${index}`,
      { accessToken: 'x'.repeat(250), appId: '500000000000001' },
    ]),
  );
}

const none = new Set<number>();

test('a few are in the one secret that there always was', () => {
  const few = credentials(100);
  const [secret, ...more] = credentialSecrets(few, { grouped: false, written: none });
  expect([secret?.suffix, more]).toEqual(['', []]);
  expect(storedCredentials(secret?.text ?? '')).toEqual(few);
});

test('too many for one are in groups, each once, and the word that they are is written last', () => {
  const many = credentials(4_000);
  const secrets = credentialSecrets(many, { grouped: false, written: none });
  const index = secrets.pop();
  expect([index?.suffix, storedCredentials(index?.text ?? '')]).toEqual(['', 'grouped']);
  const found: Record<string, unknown> = {};
  for (const { suffix, text } of secrets) {
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxSecretBytes);
    const group = groupCredentials(text);
    for (const name of Object.keys(group)) expect([name, groupSuffix(groupOf(name))]).toEqual([name, suffix]);
    Object.assign(found, group);
  }
  expect(found).toEqual(many);
});

test('what has been in groups stays there, and a group that has become empty is emptied', () => {
  const demo = { accessToken: 'token', appId: '7' };
  const other = (groupOf('demo') + 1) % 32;
  const secrets = credentialSecrets({ demo }, { grouped: true, written: new Set([other]) });
  expect(secrets.map(({ suffix, text }) => [suffix, JSON.parse(text)])).toEqual([
    [groupSuffix(other), {}],
    [groupSuffix(groupOf('demo')), { demo }],
    ['', { groups: 32 }],
  ]);
});

test('a name is in the same group for ever', () => {
  expect(['demo', 'main', 'waba-1', 'Größe'].map(groupOf)).toEqual([12, 25, 5, 0]);
  expect([0, 31].map(groupSuffix)).toEqual(['-00', '-31']);
});

test('a credential may be called groups', () => {
  const called = { groups: { accessToken: 'token', appId: '7' } };
  expect(storedCredentials(JSON.stringify(called))).toEqual(called);
});

/** Makes a secret of this many bytes with one credential. */
function ofBytes(bytes: number) {
  const withToken = (accessToken: string) => ({ demo: { accessToken, appId: '7' } });
  return withToken('x'.repeat(bytes - JSON.stringify(withToken('')).length));
}

test('one secret takes 48 KB, and what is longer goes into groups', () => {
  const suffixesOf = (bytes: number) =>
    credentialSecrets(ofBytes(bytes), { grouped: false, written: none }).map(({ suffix }) => suffix);
  expect(suffixesOf(49_152)).toEqual(['']);
  expect(suffixesOf(49_153)).toEqual([groupSuffix(groupOf('demo')), '']);
});

test('more than there is room for are refused, also when it is one group among many', () => {
  const plenty = { grouped: true, written: new Set([(groupOf('demo') + 1) % 32]) };
  expect(credentialSecrets(ofBytes(65_536), plenty)).toHaveLength(3);
  const refusal = 'there are more platform credentials than the secrets have room for';
  expect(() => credentialSecrets(ofBytes(65_537), plenty)).toThrow(new RangeError(refusal));
  expect(() => credentialSecrets(credentials(10_000), { grouped: false, written: none })).toThrow(RangeError);
});

test.each(['[]', 'null', '{"demo":{"accessToken":1}}', '{"groups":31}', '{"groups":32,"demo":1}'])(
  'what are no credentials is not taken for some: %s',
  (text) => {
    expect(() => storedCredentials(text)).toThrow();
  },
);
