import { expect, test } from 'vitest';
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

test.each([
  ['unknown name', async () => secret, 'other'],
  ['a name of every object', async () => secret, 'constructor'],
  ['no JSON', async () => 'sesame-token', 'demo'],
  ['another shape', async () => '{"demo":"sesame-token"}', 'demo'],
  ['unreadable', () => Promise.reject(new Error('sesame-token')), 'demo'],
])('%s: nothing was sent, and nothing of the secret is told', async (_, read, name) => {
  const failure = await platformCredentials(read, () => 0)(name).catch((error: unknown) => error);
  expect(failure).toMatchObject({ name: 'PlatformFailure', kind: 'not_sent' });
  const { cause } = failure as Error;
  expect(`${(failure as Error).message} ${(cause as Error).message}`).not.toContain('sesame');
});
