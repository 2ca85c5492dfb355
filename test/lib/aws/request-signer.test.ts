import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requestSigner } from '../../../lib/aws/request-signer.ts';
import { signedScope } from '../../support/signature-v4.ts';

/** The credentials, date and service of AWS's published test suite for Signature Version 4. */
const published = {
  service: 'service',
  region: async () => 'us-east-1',
  credentials: async () => ({
    accessKeyId: 'AKIDEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  }),
};
const signingDate = new Date('2015-08-30T12:36:00Z');

test.each([
  ['GET', '/', '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  ['POST', '/', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
])('%s %s is signed as AWS publishes it', async (method, path, signature) => {
  const request = { method, path, headers: { host: 'example.amazonaws.com' } };
  const { headers } = await requestSigner(published).sign(request, { signingDate });
  expect(headers).toEqual({
    host: 'example.amazonaws.com',
    'x-amz-date': '20150830T123600Z',
    Authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, ' +
      `SignedHeaders=host;x-amz-date, Signature=${signature}`,
  });
});

test('one signer signs whatever day, region, secret and body come next, and every header', async () => {
  let credentials = { accessKeyId: 'A', secretAccessKey: '', sessionToken: undefined as string | undefined };
  const signer = requestSigner({
    service: 'dynamodb',
    region: async () => 'here',
    credentials: async () => credentials,
  });
  const word = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/);
  const asked = fc.record({
    secretAccessKey: fc.constantFrom('one', 'other'),
    sessionToken: fc.option(word, { nil: undefined }),
    signingDate: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    signingRegion: fc.constantFrom(undefined, 'eu-west-1'),
    target: word,
    body: fc.string({ unit: 'binary' }),
  });
  await fc.assert(
    fc.asyncProperty(
      asked,
      async ({ secretAccessKey, sessionToken, signingDate: date, signingRegion, target, body }) => {
        credentials = { accessKeyId: 'A', secretAccessKey, sessionToken };
        const headers: Record<string, string> = {
          Host: 'h:1',
          'content-type': 'json',
          'X-Amz-Target': target,
          'content-length': String(Buffer.byteLength(body)),
          other: 'o',
        };
        const { host = 'h:1', ...signed } = await signer
          .sign({ method: 'POST', path: '/', headers, body }, { signingDate: date, signingRegion })
          .then((request) =>
            Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value])),
          );
        const request = { method: 'POST', path: '/', headers: { host, ...signed }, body };
        const day = date.toISOString().slice(0, 10).replaceAll('-', '');
        expect(signedScope(request, secretAccessKey)).toEqual({
          keyId: 'A',
          scope: `${day}/${signingRegion ?? 'here'}/dynamodb/aws4_request`,
          signedHeaders: [
            ...['content-length', 'content-type', 'host', 'other', 'x-amz-date'],
            ...(sessionToken === undefined ? [] : ['x-amz-security-token']),
            'x-amz-target',
          ],
        });
      },
    ),
  );
});
