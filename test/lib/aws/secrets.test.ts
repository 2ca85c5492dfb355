import dns from 'node:dns';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startSecretStore } from '../../../infra/local/secret-store.ts';
import { cachedFor, secretReader } from '../../../lib/aws/secrets.ts';
import { type Answer, answeringServer } from '../../support/answering-server.ts';
import { signedScope } from '../../support/signature-v4.ts';

const credentials = { accessKeyId: 'AKIA1', secretAccessKey: 'sesame', sessionToken: 'session/+=1' };
const found: Answer = (response) => response.end('{"Name":"keys","SecretString":"the text"}');
const fault =
  (status: number, type: string): Answer =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ __type: type, message: 'sesame' }));

const store = answeringServer(found);
let pauses: number[];
const read = secretReader(async (attempt) => {
  pauses.push(attempt);
});

beforeEach(() => {
  pauses = [];
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey);
  vi.stubEnv('AWS_SESSION_TOKEN', credentials.sessionToken);
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', store.endpoint);
});

afterEach(() => void vi.unstubAllEnvs());

test('asks for the current text, signed as AWS signs, with the session token of the role', async () => {
  expect(await read('keys')).toBe('the text');
  const client = new SecretsManagerClient({ region: 'eu-west-1', endpoint: store.endpoint, credentials });
  await client.send(new GetSecretValueCommand({ SecretId: 'keys' }));
  client.destroy();
  for (const request of store.asked) {
    const { method, path, headers, body } = request;
    expect({ method, path, body: JSON.parse(body) }).toEqual({ method: 'POST', path: '/', body: { SecretId: 'keys' } });
    expect(headers).toMatchObject({
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': 'secretsmanager.GetSecretValue',
      'x-amz-security-token': credentials.sessionToken,
    });
    expect(signedScope(request, credentials.secretAccessKey)).toEqual({
      keyId: 'AKIA1',
      scope: `${headers['x-amz-date']?.slice(0, 8)}/eu-west-1/secretsmanager/aws4_request`,
      signedHeaders: expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']),
    });
    expect(signedScope({ ...request, body: '{"SecretId":"others"}' }, credentials.secretAccessKey)).toBeUndefined();
  }
  expect(store.asked).toHaveLength(2);
});

test('credentials without a session are sent without one', async () => {
  vi.stubEnv('AWS_SESSION_TOKEN', undefined);
  expect(await read('keys')).toBe('the text');
  expect(store.asked[0]?.headers).not.toHaveProperty('x-amz-security-token');
});

test.each<readonly [string, Answer]>([
  ['a fault of the server', fault(500, 'InternalServiceError')],
  ['a gateway without words', (response) => response.writeHead(502).end('<html>')],
  ['a throttle', fault(400, 'ThrottlingException')],
  ['a throttle with its name space', fault(400, 'com.amazonaws.secretsmanager#ThrottlingException')],
  ['too many requests', (response) => response.writeHead(429).end()],
  ['a connection that ends', (response) => response.destroy()],
  [
    'an answer that ends in the middle',
    (response) => response.writeHead(200, { 'content-length': 100 }).write('{"Se', () => response.destroy()),
  ],
])('%s is tried again, three times in all', async (_what, answer) => {
  store.answers = [answer, answer, found];
  expect(await read('keys')).toBe('the text');
  expect([store.asked.length, pauses]).toEqual([3, [1, 2]]);
  store.answers = [answer];
  await expect(read('keys')).rejects.toThrow();
  expect([store.asked.length, pauses]).toEqual([6, [1, 2, 1, 2]]);
});

test('an answer that does not come is waited for 3 s, and asked for again', async () => {
  store.answers = [() => undefined, found];
  expect(await read('keys')).toBe('the text');
  expect(store.asked).toHaveLength(2);
}, 20_000);

test.each<readonly [string, Answer, string]>([
  ['a secret that is not there', fault(400, 'ResourceNotFoundException'), 'ResourceNotFoundException'],
  ['a right that is missing', fault(400, 'AccessDeniedException'), 'AccessDeniedException'],
  ['a fault without a name', (response) => response.writeHead(403).end('sesame'), 'HTTP 403'],
  ['a secret without text', (response) => response.end('{"SecretBinary":"c2VzYW1l"}'), 'SecretHasNoText'],
  ['no JSON', (response) => response.end('sesame'), 'SecretHasNoText'],
])('%s stands, and is named without what was read', async (_what, answer, name) => {
  store.answers = [answer];
  await expect(read('keys')).rejects.toMatchObject({ name, message: `the secret keys could not be read: ${name}` });
  expect(store.asked).toHaveLength(1);
});

test('the last of three faults is the one that is told', async () => {
  store.answers = [fault(500, 'InternalServiceError')];
  await expect(read('keys')).rejects.toMatchObject({ name: 'InternalServiceError' });
});

test('a connection that is refused is no secret', async () => {
  store.close();
  await expect(read('keys')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(pauses).toEqual([1, 2]);
});

test.each([
  ['eu-west-1', 'secretsmanager.eu-west-1.amazonaws.com'],
  ['cn-north-1', 'secretsmanager.cn-north-1.amazonaws.com.cn'],
])('in %s it asks %s, unless the environment names another', async (region, host) => {
  vi.stubEnv('AWS_REGION', region);
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', undefined);
  const lookedUp = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((_name: string, _options: object, done: (error: Error) => void) =>
      done(new Error('not found'))) as unknown as typeof dns.lookup);
  await expect(read('keys')).rejects.toThrow('not found');
  expect(new Set(lookedUp.mock.calls.map(([name]) => name))).toEqual(new Set([host]));
  lookedUp.mockRestore();
});

test('reads what the local stack holds', async () => {
  const local = await startSecretStore([{ name: 'keys' }]);
  vi.stubEnv('AWS_ENDPOINT_URL_SECRETS_MANAGER', local.endpoint);
  await expect(read('keys')).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  await local.stop();
});

test('a value is read by one at a time, however many ask, and again when it is too old', async () => {
  const now = { ms: 0 };
  const readings: PromiseWithResolvers<string>[] = [];
  const value = cachedFor(
    1_000,
    () => now.ms,
    () => {
      const reading = Promise.withResolvers<string>();
      readings.push(reading);
      return reading.promise;
    },
  );
  const asked = [value(), value(), value()];
  expect(readings).toHaveLength(1);
  readings[0]?.resolve('first');
  expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
  now.ms = 1_000;
  const again = [value(), value()];
  expect(readings).toHaveLength(2);
  readings[1]?.reject(new Error('no connection'));
  expect((await Promise.allSettled(again)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  void value();
  expect(readings).toHaveLength(3);
});
