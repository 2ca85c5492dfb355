import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { pagesOf } from '../../../../lib/messages/accept/parameter-pages.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';

const { signal } = new AbortController();
const dispatch = makeDispatch(makeRecipients(10_000, 800));

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

test('four requests of up to 25 pages are on their way at once, and the next when one is written', async () => {
  const { waiting, client } = waitingClient();
  const stored = acceptedDispatchesStore(tableOf(client, 'messages')).store(dispatch, signal);
  // Four items of addresses, the record and the entry go with the pages.
  const requests = Math.ceil(([...pagesOf(dispatch.recipients)].length + 6) / 25);
  expect(requests).toBeGreaterThan(4);
  for (let written = 0; written < requests; written += 1) {
    expect(waiting).toHaveLength(Math.min(requests, written + 4));
    waiting[written]?.resolve({});
    await settled();
  }
  await stored;
});

test('one that fails is the end of it: no further page is written', async () => {
  const { waiting, client } = waitingClient();
  const stored = acceptedDispatchesStore(tableOf(client, 'messages')).store(dispatch, signal);
  waiting[3]?.reject(new Error('refused'));
  await settled();
  for (const write of waiting) write.resolve({});
  await expect(stored).rejects.toThrow('refused');
  expect(waiting).toHaveLength(4);
});
