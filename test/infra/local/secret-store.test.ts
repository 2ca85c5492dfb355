import {
  CreateSecretCommand,
  DescribeSecretCommand,
  GetSecretValueCommand,
  InvalidParameterException,
  ListSecretsCommand,
  PutSecretValueCommand,
  ResourceExistsException,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type SecretStore, startSecretStore } from '../../../infra/local/secret-store.ts';

const name = 'template-messaging-local-token-signing-keys';
const arn = `arn:aws:secretsmanager:us-east-1:000000000000:secret:${name}-local0`;
let store: SecretStore;
let client: SecretsManagerClient;

beforeEach(async () => {
  store = await startSecretStore([{ name }]);
  client = new SecretsManagerClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    endpoint: store.endpoint,
    maxAttempts: 1,
  });
});
afterEach(async () => {
  client.destroy();
  await store.stop();
});

const get = (SecretId: string) => client.send(new GetSecretValueCommand({ SecretId }));
const put = (SecretId: string, SecretString?: string) =>
  client.send(new PutSecretValueCommand({ SecretId, SecretString }));

test('a secret of the template exists and has no value until one is put', async () => {
  await expect(get(name)).rejects.toThrow(ResourceNotFoundException);
  await expect(get(name)).rejects.toThrow(/secret value for staging label: AWSCURRENT/);
  const description = await client.send(new DescribeSecretCommand({ SecretId: name }));
  expect(description).toMatchObject({ Name: name, ARN: arn, CreatedDate: expect.any(Date) });
  expect(description.VersionIdsToStages).toBeUndefined();
});

test('the latest value is read by name and by ARN', async () => {
  await put(name, 'first');
  const { VersionId } = await put(arn, 'second');
  for (const id of [name, arn]) {
    expect(await get(id)).toMatchObject({
      Name: name,
      ARN: arn,
      SecretString: 'second',
      VersionId,
      VersionStages: ['AWSCURRENT'],
      CreatedDate: expect.any(Date),
    });
  }
  const { VersionIdsToStages } = await client.send(new DescribeSecretCommand({ SecretId: arn }));
  expect(VersionIdsToStages).toEqual({ [String(VersionId)]: ['AWSCURRENT'] });
});

test('a new secret can be created once, with or without a value', async () => {
  const { ARN } = await client.send(new CreateSecretCommand({ Name: 'other', SecretString: 'value' }));
  expect(await get(String(ARN))).toMatchObject({ Name: 'other', SecretString: 'value' });
  await client.send(new CreateSecretCommand({ Name: 'empty' }));
  await expect(get('empty')).rejects.toThrow(ResourceNotFoundException);
  await expect(client.send(new CreateSecretCommand({ Name: name }))).rejects.toThrow(ResourceExistsException);
});

test('an unknown resource or request is refused with an error that the SDK knows', async () => {
  await expect(get('stranger')).rejects.toThrow(ResourceNotFoundException);
  await expect(put('stranger', 'value')).rejects.toThrow(ResourceNotFoundException);
  await expect(put(name)).rejects.toThrow(InvalidParameterException);
  await expect(client.send(new ListSecretsCommand())).rejects.toThrow('secretsmanager.ListSecrets is not known here');
});
