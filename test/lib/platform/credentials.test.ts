import { expect, test } from 'vitest';
import { groupOf, groupSuffix } from '../../../lib/platform/credential-groups.ts';
import { platformCredentials } from '../../../lib/platform/credentials.ts';

const secret = JSON.stringify({ demo: { accessToken: 'token-1', appId: '7' } });

test('a credential is found by name and kept 5 minutes', async () => {
  let now = 0;
  let reads = 0;
  const credentialOf = platformCredentials(
    async () => {
      reads += 1;
      return secret.replace('token-1', `token-${reads}`);
    },
    () => now,
  );
  expect(await credentialOf('demo')).toEqual({ accessToken: 'token-1', appId: '7' });
  now = 299_999;
  expect(await credentialOf('demo')).toMatchObject({ accessToken: 'token-1' });
  now = 300_000;
  expect(await credentialOf('demo')).toMatchObject({ accessToken: 'token-2' });
});

test('credentials in groups are found in the secret of their group, each read by one at a time and kept 5 minutes', async () => {
  let now = 0;
  const reads: string[] = [];
  const groups: Record<string, string> = { '': '{"groups":32}' };
  for (const name of ['demo', 'other']) {
    groups[groupSuffix(groupOf(name))] = JSON.stringify({ [name]: { accessToken: `token of ${name}`, appId: '7' } });
  }
  const credentialOf = platformCredentials(
    async (suffix) => {
      reads.push(suffix);
      return groups[suffix] ?? Promise.reject(new Error('not there'));
    },
    () => now,
  );
  const both = () => Promise.all(['demo', 'demo', 'other'].map(credentialOf));
  const [demo, other] = ['demo', 'other'].map((name) => ({ accessToken: `token of ${name}`, appId: '7' }));
  expect(await both()).toEqual([demo, demo, other]);
  now = 299_999;
  expect(await both()).toEqual([demo, demo, other]);
  const once = ['', groupSuffix(groupOf('demo')), groupSuffix(groupOf('other'))];
  expect(reads).toEqual(once);
  now = 300_000;
  await both();
  expect(reads).toEqual([...once, ...once]);
  await expect(credentialOf('nobody')).rejects.toMatchObject({ kind: 'not_sent' });
});

test.each([
  ['unknown name', async () => secret, 'other'],
  ['a name of every object', async () => secret, 'constructor'],
  ['no JSON', async () => 'sesame-token', 'demo'],
  ['another number of groups', async () => '{"groups":16}', 'demo'],
  ['another shape', async () => '{"demo":"sesame-token"}', 'demo'],
  ['unreadable', () => Promise.reject(new Error('sesame-token')), 'demo'],
])('%s: nothing was sent, and nothing of the secret is told', async (_, read, name) => {
  const failure = await platformCredentials(read, () => 0)(name).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'PlatformFailure', kind: 'not_sent' });
  const { cause } = failure as Error;
  expect(`${(failure as Error).message} ${(cause as Error).message}`).not.toContain('sesame');
});
