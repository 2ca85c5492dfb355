import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { documentClient } from '../../../lib/aws/dynamodb.ts';
import { requestHandler } from '../../../lib/aws/request-handler.ts';
import { type Answer, answeringServer } from '../../support/answering-server.ts';

const found: Answer = (response) => response.end('{"Item":{"pk":{"S":"a"},"n":{"N":"7"}}}');
const fault =
  (type: string, status = 400): Answer =>
  (response) =>
    response.writeHead(status).end(JSON.stringify({ __type: `com.amazonaws.dynamodb#${type}`, message: 'no' }));

const table = answeringServer(found);
const credentials = { accessKeyId: 'a', secretAccessKey: 'b' };
const impatient = () => requestHandler({ connectMs: 1_000, replyMs: 100 });
const read = (config: Parameters<typeof documentClient>[0] = {}, abortSignal?: AbortSignal) =>
  documentClient({ region: 'r', credentials, endpoint: table.endpoint, ...config }).send(
    new GetCommand({ TableName: 'things', Key: { pk: 'a' } }),
    { abortSignal },
  );

test('the SDK reads what the table answers, and says nothing of itself', async () => {
  expect((await read()).Item).toEqual({ pk: 'a', n: 7 });
  expect(table.asked.map(({ headers, body }) => [headers['user-agent'], JSON.parse(body)])).toEqual([
    [undefined, { TableName: 'things', Key: { pk: { S: 'a' } } }],
  ]);
});

test('requests have the connection of those before', async () => {
  const client = documentClient({ region: 'r', credentials, endpoint: table.endpoint });
  const get = () => client.send(new GetCommand({ TableName: 'things', Key: { pk: 'a' } }));
  await get();
  await get();
  expect(new Set(table.asked.map(({ socket }) => socket)).size).toBe(1);
});

test.each([
  ['ProvisionedThroughputExceededException', 400],
  ['ThrottlingException', 400],
  ['InternalServerError', 500],
])('the SDK repeats %s', async (type, status) => {
  table.answers = [fault(type, status), fault(type, status), found];
  expect((await read()).Item).toEqual({ pk: 'a', n: 7 });
  expect(table.asked).toHaveLength(3);
});

test('a refusal stands, with its name', async () => {
  table.answers = [fault('ResourceNotFoundException')];
  await expect(read()).rejects.toMatchObject({ name: 'ResourceNotFoundException' });
  expect(table.asked).toHaveLength(1);
});

test.each<readonly [string, Answer]>([
  ['that does not come', () => undefined],
  ['that does not end', (response) => response.writeHead(200, { 'content-length': 99 }).write('{"Item"')],
])('an answer %s is repeated four times in all, and told as a time-out', async (_what, answer) => {
  table.answers = [answer];
  await expect(read({ requestHandler: impatient() })).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(table.asked).toHaveLength(4);
});

test.each<readonly [string, Answer]>([
  ['ends', (response) => response.destroy()],
  [
    'ends in the middle',
    (response) => response.writeHead(200, { 'content-length': 99 }).write('{', () => response.destroy()),
  ],
])('a connection that %s is repeated', async (_what, answer) => {
  table.answers = [answer, found];
  expect((await read()).Item).toEqual({ pk: 'a', n: 7 });
});

test('a caller that gives up is told at once, and nothing is repeated', async () => {
  const caller = new AbortController();
  table.answers = [() => caller.abort()];
  const patient = requestHandler({ connectMs: 1_000, replyMs: 600_000 });
  await expect(read({ requestHandler: patient }, caller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(table.asked).toHaveLength(1);
});

test('an abort is heeded by a request that waits for a connection', async () => {
  table.answers = [() => undefined];
  const hung = requestHandler({ connectMs: 1_000, replyMs: 60_000 });
  const { port } = new URL(table.endpoint);
  const asked = { protocol: 'http:', hostname: '127.0.0.1', port, path: '/', method: 'POST', headers: {}, body: '{}' };
  const before = Array.from({ length: 50 }, () => hung.handle(asked).catch(() => 'timed out'));
  const waiting = hung.handle(asked, { abortSignal: AbortSignal.timeout(50) }).catch(({ name }: Error) => name);
  expect(await Promise.race([waiting, ...before])).toBe('AbortError');
  expect(await hung.handle(asked, { abortSignal: AbortSignal.abort() }).catch(({ name }: Error) => name)).toBe(
    'AbortError',
  );
  table.close();
  await Promise.all(before);
});
