import { beforeAll, expect, test } from 'vitest';
import { redirect } from '../../functions/redirect.ts';
import { redirectCode } from '../../lib/redirects/code.ts';
import { type RedirectStore, redirectStore } from '../../lib/redirects/redirect-store.ts';
import { callEndpoint, makeHttpEvent } from '../support/http-event.ts';
import { freshTable, localDocumentClient } from '../support/stores.ts';

const url = 'https://shop.example.com/sale?a=1&b=%C3%B1#top';
const button = { templateKey: 'abcdefghijklmnop', place: 'buttons[0]', url };
const code = redirectCode(button);
const reads: string[] = [];

let table: string;
beforeAll(async () => {
  table = await freshTable('redirects');
  const origin = { clientId: 1001, wabaId: '200', templateKey: button.templateKey, createdAtMs: 0 };
  await redirectStore(localDocumentClient(), table).put([{ code, url }], origin);
});

function follow(asked: string) {
  const store = redirectStore(localDocumentClient(), table);
  const urlOf: RedirectStore['urlOf'] = (key) => {
    reads.push(key);
    return store.urlOf(key);
  };
  reads.length = 0;
  return callEndpoint(redirect({ redirects: { urlOf } }), makeHttpEvent({ pathParameters: { code: asked } }));
}

test('a pending redirect is a 404 until a template has it', async () => {
  expect(await follow(code)).toMatchObject(notFound);
  await redirectStore(localDocumentClient(), table).keep([code], button.templateKey);
  expect(await follow(code)).toMatchObject({ status: 302 });
});

test('leads to the stored URL, without a token', async () => {
  expect(await follow(code)).toEqual({
    status: 302,
    headers: { location: url, 'cache-control': 'private, max-age=300', 'x-request-id': expect.any(String) },
    text: '',
    body: undefined,
  });
});

const notFound = {
  status: 404,
  headers: { 'cache-control': 'no-store', 'content-type': expect.stringMatching(/^application\/json/) },
  body: { message: 'no redirect of this code', code: 'redirect_not_found' },
};

test('a code that nothing is stored under is a 404 that no cache keeps', async () => {
  const other = redirectCode({ ...button, place: 'buttons[1]' });
  expect(await follow(other)).toMatchObject(notFound);
  expect(reads).toEqual([other]);
});

test.each([
  ['a letter', 'x'],
  ['a guess', 'a'.repeat(32)],
  ['a code and a letter', `${code}x`],
  ['a code in capitals', code.toUpperCase()],
  ['a path', '../x'],
  ['a URL', 'https://evil.example'],
  ['an endless text', 'x'.repeat(5_000)],
])('%s is a 404 without a read', async (_, text) => {
  expect(await follow(text)).toMatchObject(notFound);
  expect(reads).toEqual([]);
});
