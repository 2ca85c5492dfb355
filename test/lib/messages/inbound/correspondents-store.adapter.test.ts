import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { dispatchSortKey, wrotePartition } from '../../../../lib/messages/dispatch/items.ts';
import { groupsOf, shortName } from '../../../../lib/messages/inbound/correspondents.ts';
import { correspondentReader, correspondentWriter } from '../../../../lib/messages/inbound/correspondents-store.ts';
import { personNames } from '../../../../lib/opt-outs/person-name.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { injectFaults } from '../../../support/queue-faults.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const tableName = await freshTable('messages');
const nameOf = personNames(Buffer.alloc(32, 5));
const over = (documentClient = localDocumentClient()) => ({ client: documentClient, name: tableName });
const note = correspondentWriter(over(), async () => nameOf);
const wroteTo = correspondentReader(over());
const limitMs = 10_000;
const atMs = 1_800_000_000_000;
const day = 86_400_000;

test("a client that wrote to a person is found by any of the person's names, with few recipients and with many", async () => {
  const recipients = makeRecipients(200);
  const head = { phoneNumberId: '31', acceptedAtMs: atMs };
  await note(makeDispatch(recipients, { ...head, dispatchId: 'A', clientId: 1001 }), limitMs);
  await note(
    makeDispatch([{ to: 'US.1' }, ...recipients.slice(0, 2)], { ...head, dispatchId: 'B', clientId: 1002 }),
    limitMs,
  );
  const asked = async (...to: string[]) => [
    ...(await wroteTo({ phoneNumberId: '31', names: to.map(nameOf), sinceMs: atMs })).keys(),
  ];
  const [first, , third] = recipients.map(({ to }) => to);
  expect(await asked(first ?? '')).toEqual([1001, 1002]);
  expect(await asked(third ?? '')).toEqual([1001]);
  expect(await asked('US.1')).toEqual([1002]);
  expect(await asked(third ?? '', 'US.1')).toEqual([1001, 1002]);
  expect(await asked('5491199999999')).toEqual([]);
  expect(await wroteTo({ phoneNumberId: '32', names: [nameOf(first ?? '')], sinceMs: atMs })).toEqual(new Map());
});

test('dispatches before the asked moment do not count, and those since then do, the latest too', async () => {
  const [recipient] = makeRecipients(1);
  const dispatch = (dispatchId: string, clientId: number, acceptedAtMs: number) =>
    note(
      makeDispatch(recipient === undefined ? [] : [recipient], {
        phoneNumberId: '41',
        dispatchId,
        clientId,
        acceptedAtMs,
      }),
      limitMs,
    );
  await dispatch('A', 1, atMs - 1);
  await dispatch('B', 2, atMs);
  await dispatch('C', 3, atMs + 400 * day);
  expect(await wroteTo({ phoneNumberId: '41', names: [nameOf(recipient?.to ?? '')], sinceMs: atMs })).toEqual(
    new Map([
      [2, atMs],
      [3, atMs + 400 * day],
    ]),
  );
});

test('what is stored names no person, and is forgotten after 51 days', async () => {
  const to = '5491155550001';
  await note(
    makeDispatch([{ to }], { phoneNumberId: '51', dispatchId: 'J', clientId: 7, acceptedAtMs: atMs }),
    limitMs,
  );
  const [own = ''] = groupsOf(shortName(nameOf(to)));
  const key = { pk: wrotePartition('51', own), sk: dispatchSortKey(atMs, 'J') };
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: tableName, Key: key }));
  const names = new Uint8Array(shortName(nameOf(to)));
  expect(Item).toEqual({ ...key, clientId: 7, names, expiresAtSeconds: atMs / 1_000 + 51 * 86_400 });
});

test('a write that fails is told; and a dispatch of 10,000 takes 16 of them', async () => {
  const client = localDocumentClient();
  const attempts = injectFaults(client, () => undefined);
  await correspondentWriter(over(client), async () => nameOf)(
    makeDispatch(makeRecipients(10_000), { dispatchId: 'L' }),
    limitMs,
  );
  expect(attempts).toHaveLength(16);
  const broken = localDocumentClient();
  injectFaults(broken, ({ number }) => (number >= 3 ? 'before' : undefined));
  const writer = correspondentWriter(over(broken), async () => nameOf);
  await expect(writer(makeDispatch(makeRecipients(20), { dispatchId: 'M' }), limitMs)).rejects.toThrow();
});
