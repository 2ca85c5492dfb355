import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sdkNeverImports } from '../../../../infra/build.ts';
import { maxPageBytes } from '../../../../lib/messages/accept/parameter-pages.ts';
import { makeRecipients } from '../../../support/made-dispatches.ts';

/**
 * Measures the largest requests in a process of their own, with the function's bundle, against a server that accepts
 * and counts everything. accepted-dispatches.adapter.test.ts shows the effects on tables.
 */

const folder = mkdtempSync(join(tmpdir(), 'acceptance-'));
const program = join(folder, 'acceptance.mjs');
/** DynamoDB's form of what is looked at. */
interface Written {
  readonly pk?: { readonly S: string };
  readonly recipients?: { readonly B: string };
}
let asked: { readonly what: string; readonly items: readonly Written[] }[] = [];
const isPage = ({ pk }: Written) => pk?.S.startsWith('PARAMS#') ?? false;

const server = createServer(async (request, response) => {
  const what = String(request.headers['x-amz-target']).replace(/^.*\./, '');
  const body = JSON.parse(await text(request));
  const written: { PutRequest: { Item: Written } }[] = body.RequestItems?.['messages'] ?? [];
  const items = written.map(({ PutRequest }) => PutRequest.Item);
  asked.push({ what, items: items.length === 0 ? [body.Item ?? body.Key ?? {}] : items });
  const digest = createHash('md5').update(String(body.MessageBody)).digest('hex');
  const sent = { MessageId: 'm', MD5OfMessageBody: digest };
  response.end(JSON.stringify(what === 'SendMessage' ? sent : what === 'UpdateItem' ? { Attributes: {} } : {}));
});

beforeAll(async () => {
  await build({
    entryPoints: [join(import.meta.dirname, '../../../support/acceptance-process.ts')],
    outfile: program,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    external: sdkNeverImports,
    banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
    logLevel: 'warning',
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

async function accepted(recipients: readonly unknown[]): Promise<Record<string, number | string>> {
  asked = [];
  const { port } = server.address() as AddressInfo;
  const child = spawn(process.execPath, [program, `http://127.0.0.1:${port}`], { stdio: ['pipe', 'pipe', 'inherit'] });
  const template = { name: 'order_update', language: 'en_US' };
  const request = { did: '5491100000001', type: 'template', channel: 'MESSAGING', template, recipients };
  child.stdin.end(JSON.stringify({ body: JSON.stringify(request) }));
  return JSON.parse(await text(child.stdout));
}

const megabyte = 1_048_576;

test.each<[string, textBytes: number, bodyBytes: number, mostPages: number]>([
  ['everyday parameters', 0, 0.7 * megabyte, 20],
  ['as many as a request may have bytes', 545, 5.9 * megabyte, 120],
])(
  '10,000 recipients with %s are accepted within 256 MB, by one queue request and four writes beside the pages',
  { timeout: 60_000 },
  async (_, textBytes, fewestBytes, mostPages) => {
    const { dispatchId, bodyBytes, peakBytes } = await accepted(makeRecipients(10_000, textBytes));
    expect(dispatchId).toBe('01JD0000000000000000000000');
    expect(bodyBytes).toBeGreaterThan(fewestBytes);
    expect(bodyBytes).toBeLessThan(6 * megabyte);
    const pages = asked.flatMap(({ items }) => items.filter(isPage));
    expect(pages.length).toBeLessThanOrEqual(mostPages);
    const packedBytes = pages.map(({ recipients }) => Buffer.byteLength(recipients?.B ?? '', 'base64'));
    expect(Math.max(...packedBytes)).toBeLessThanOrEqual(maxPageBytes);
    const batches = asked.filter(({ what }) => what === 'BatchWriteItem');
    // Four items of addresses, the record and the entry of the backlog go with the pages.
    expect(batches).toHaveLength(Math.ceil((pages.length + 6) / 25));
    const beside = asked.filter((each) => !batches.includes(each)).map(({ what }) => what);
    // The key is written twice; then come the dispatch's item and its place in the list.
    expect(beside.sort()).toEqual(['PutItem', 'PutItem', 'SendMessageBatch', 'UpdateItem', 'UpdateItem']);
    expect(Number(peakBytes) / megabyte).toBeLessThan(256);
  },
);

test('a request of ten is one queue request and four writes with a key', async () => {
  await accepted(makeRecipients(10));
  // The key is written twice; then come the place in the list and the dispatch.
  expect(asked.map(({ what }) => what)).toEqual(['PutItem', 'SendMessage', 'PutItem', 'UpdateItem', 'UpdateItem']);
});
