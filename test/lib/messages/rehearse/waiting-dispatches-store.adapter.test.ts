import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import { waitingDispatchesStore } from '../../../../lib/messages/rehearse/waiting-dispatches-store.ts';
import { injectFaults } from '../../../support/faults.ts';
import { makeDispatch, makeDispatchHead, makeRecipients } from '../../../support/made-dispatches.ts';
import { scenarioHead } from '../../../support/scenario-dispatch.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
const number = '300000000000001';

test('hundreds of parked dispatches hide none that has turns', async () => {
  const table = await freshTable('messages');
  const client = localDocumentClient();
  const accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  const headOf = (dispatchId: string) =>
    makeDispatchHead({ dispatchId, phoneNumberId: number, total: 40, acceptedAtMs: nowMs });
  const parked = { ...scenarioHead, untilMs: nowMs + 1 };
  const held = Array.from({ length: 125 }, (_, at) => ({ ...newEntry(headOf(`HELD${at}`)), parked }));
  for (let at = 0; at < held.length; at += 25) {
    const puts = held.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
  const dispatch = makeDispatch(makeRecipients(40), headOf('LATER'));
  await accepted.store(dispatch, AbortSignal.timeout(10_000));
  await accepted.begin(dispatch.head, AbortSignal.timeout(10_000));
  const waiting = await waitingDispatchesStore(tableOf(client, table, { pause: async () => undefined })).of(number);
  expect(waiting.map(({ recipients }) => recipients)).toEqual([40]);
});

test('the backlog of a number is read in a few requests, however many dispatches it has', async () => {
  const table = await freshTable('messages');
  const client = localDocumentClient();
  const accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  const ids = Array.from({ length: 120 }, (_, at) => `J${String(at).padStart(3, '0')}`);
  const headOf = (dispatchId: string, phoneNumberId = number) =>
    makeDispatchHead({ dispatchId, phoneNumberId, total: 40, acceptedAtMs: nowMs });
  for (const dispatchId of ids.slice(0, 2)) {
    const dispatch = makeDispatch(makeRecipients(40), headOf(dispatchId));
    await accepted.store(dispatch, AbortSignal.timeout(10_000));
    if (dispatchId === 'J000') await accepted.begin(dispatch.head, AbortSignal.timeout(10_000));
  }
  const rest = [...ids.slice(2).map((id) => headOf(id)), headOf('OTHER', '300000000000010')];
  for (let at = 0; at < rest.length; at += 25) {
    const puts = rest.slice(at, at + 25).map((head) => ({ PutRequest: { Item: newEntry(head) } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
  const own = localDocumentClient();
  const { attempts } = injectFaults(own, () => undefined);
  const waiting = await waitingDispatchesStore(tableOf(own, table, { pause: async () => undefined })).of(number);
  expect(waiting).toHaveLength(21);
  expect(waiting.map(({ recipients }) => recipients)).toEqual([40, ...Array.from({ length: 20 }, () => 1)]);
  expect(attempts.map(({ command }) => command)).toEqual(['QueryCommand', 'BatchGetItemCommand']);
});
