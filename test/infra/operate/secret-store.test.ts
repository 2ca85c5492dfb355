import { ResourceNotFoundException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { expect, test } from 'vitest';
import { startSecretStore } from '../../../infra/local/secret-store.ts';
import { secretStore } from '../../../infra/operate/secret-store.ts';

test('a secret of the deployment is written when it is there; one of our own is made the first time', async () => {
  const server = await startSecretStore([{ name: 'deployed' }]);
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  const client = new SecretsManagerClient({ region: 'us-east-1', credentials, endpoint: server.endpoint });
  try {
    const store = secretStore(client);
    await store.write('deployed', 'text');
    expect([await store.read('deployed'), await store.read('own')]).toEqual(['text', undefined]);
    await expect(store.write('own', 'text')).rejects.toThrow(ResourceNotFoundException);
    for (const text of ['first', 'second']) {
      await store.writeOwn('own', text);
      expect(await store.read('own')).toBe(text);
    }
  } finally {
    client.destroy();
    await server.stop();
  }
});
