import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { pagesOf } from '../../../../lib/messages/accept/parameter-pages.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import { makeDispatchHead, makeRecipients } from '../../../support/made-dispatches.ts';

const { signal } = new AbortController();
const dispatch = { head: makeDispatchHead(), recipients: makeRecipients(7_500) };

/** The test ends the client's writes one by one. */
function waitingClient() {
  const waiting: PromiseWithResolvers<unknown>[] = [];
  const send = () => {
    const write = Promise.withResolvers<unknown>();
    waiting.push(write);
    return write.promise;
  };
  return { waiting, client: { send } as unknown as DynamoDBDocumentClient };
}

/** Lets all ready work finish. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('ten pages are on their way at once, and the next when one is written', async () => {
  const { waiting, client } = waitingClient();
  const stored = parameterStore(tableOf(client, 'messages')).store(dispatch, signal);
  const pages = [...pagesOf(dispatch.recipients)].length;
  expect(pages).toBeGreaterThan(11);
  for (let written = 0; written < pages; written += 1) {
    expect(waiting).toHaveLength(Math.min(pages, written + 10));
    waiting[written]?.resolve({});
    await settled();
  }
  await stored;
});

test('one that fails is the end of it: no further page is written', async () => {
  const { waiting, client } = waitingClient();
  const stored = parameterStore(tableOf(client, 'messages')).store(dispatch, signal);
  waiting[3]?.reject(new Error('refused'));
  await settled();
  for (const write of waiting) write.resolve({});
  await expect(stored).rejects.toThrow('refused');
  expect(waiting).toHaveLength(10);
});
