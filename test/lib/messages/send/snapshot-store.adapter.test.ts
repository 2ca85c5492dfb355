import type { BatchGetCommandInput } from '@aws-sdk/lib-dynamodb';
import { expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { cancelled } from '../../../../lib/messages/dispatch/item-state.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { noHolds, opened } from '../../../../lib/messages/holds/hold.ts';
import { holdStore } from '../../../../lib/messages/holds/hold-store.ts';
import { snapshotStore } from '../../../../lib/messages/send/snapshot-store.ts';
import { optOutWriter } from '../../../../lib/opt-outs/opt-out-store.ts';
import { personNames } from '../../../../lib/opt-outs/person-name.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const wabaId = '200000000000001';
const phoneNumberId = '300000000000001';
const nowMs = 1_800_000_000_000;

test('one look shows the holds as they were written last, and each dispatch as it stands', async () => {
  const [client, table] = [localDocumentClient(), await freshTable('messages')];
  const late = localDocumentClient();
  lagReads(late);
  const look = snapshotStore(tableOf(late, table));
  expect(await look({ wabaId, dispatchIds: ['none'] })).toEqual({
    ...{ holds: noHolds, anyStops: false },
    dispatches: new Map(),
  });
  const dispatches = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  for (const dispatchId of ['sent', 'stopped'])
    await beginListed(dispatches, { head: makeDispatchHead({ dispatchId }), repeats: [] });
  expect(await look({ wabaId, dispatchIds: ['sent'] })).toEqual({
    ...{ holds: noHolds, anyStops: false },
    dispatches: new Map([['sent', { begun: true }]]),
  });

  const stop = cancelled(nowMs);
  await dispatchItemStore(tableOf(client, table)).stop(
    makeDispatchHead({ dispatchId: 'stopped', acceptedAtMs: nowMs }),
    stop,
  );

  const holds = await holdStore(tableOf(client, table, { nowMs: () => nowMs })).change(
    wabaId,
    opened('waba', { code: '368', nowMs }),
  );
  const found = await look({ wabaId, dispatchIds: ['sent', 'stopped', 'sent', 'none'] });
  expect(found.holds).toEqual(holds);
  expect([...found.dispatches].sort()).toEqual([
    ['sent', { begun: true }],
    ['stopped', { begun: true, stop }],
  ]);
});

test('a look says in its one request whether there are opt-outs of a sender, and reads no mark again that it has seen (D55)', async () => {
  const [client, table] = [localDocumentClient(), await freshTable('messages')];
  const late = localDocumentClient();
  lagReads(late);
  const asked: number[] = [];
  late.middlewareStack.add((next) => async (args) => {
    const { RequestItems = {} } = args.input as BatchGetCommandInput;
    asked.push(RequestItems[table]?.Keys?.length ?? 0);
    return await next(args);
  });
  const look = snapshotStore(tableOf(late, table));
  const optOutsOf = { clientId: 7, wabaId, phoneNumberId };
  /** Returns whether there are opt-outs, and the number of items in each request. */
  const looked = async (sender = optOutsOf) => {
    const { anyStops } = await look({ wabaId, dispatchIds: ['none'], optOutsOf: sender });
    return [anyStops, asked.splice(0)];
  };
  const { mark } = optOutWriter(
    tableOf(client, table, { pause: async () => undefined }),
    personNames(new Uint8Array(32)),
  );
  await mark({ kind: 'client', clientId: 8 });
  await mark({ kind: 'number', wabaId: 'another', phoneNumberId });
  expect(await looked()).toEqual([false, [4]]);
  await mark({ kind: 'client', clientId: 7 });
  expect(await looked()).toEqual([true, [4]]);
  expect(await looked()).toEqual([true, [2]]);
  // The answer says nothing about other clients until the WABA has an opt-out.
  expect(await looked({ ...optOutsOf, clientId: 9 })).toEqual([false, [4]]);
  await mark({ kind: 'number', wabaId, phoneNumberId });
  expect(await looked({ ...optOutsOf, clientId: 9 })).toEqual([true, [4]]);
  expect((await look({ wabaId, dispatchIds: [] })).anyStops).toBe(false);
});
