import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { describe, expect, test, vi } from 'vitest';
import type { ItemKey } from '../../../../lib/aws/item-key.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { acceptedDispatchesStore } from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import { maxRecipientBytes, ParametersGone } from '../../../../lib/messages/accept/parameter-pages.ts';
import { parameterStore } from '../../../../lib/messages/accept/parameter-store.ts';
import { backlogKey, laterKey, laterThanMs, newEntry } from '../../../../lib/messages/dispatch/backlog.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import {
  acceptedKey,
  dispatchesPartition,
  dispatchKey,
  dispatchSortKey,
  parametersKey,
  recipientsKey,
} from '../../../../lib/messages/dispatch/items.ts';
import { isWithdrawn } from '../../../../lib/messages/dispatch/slice.ts';
import { sliceStore } from '../../../../lib/messages/dispatch/slice-store.ts';
import { addressesOf, type WholeDispatch } from '../../../../lib/messages/dispatch/whole-dispatch.ts';
import { dispatchesStore } from '../../../../lib/messages/report/dispatches-store.ts';
import { reportStore } from '../../../../lib/messages/report/report-store.ts';
import { beginListed } from '../../../support/begun-dispatches.ts';
import { injectFaults } from '../../../support/dynamo-faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { makeDispatch, makeRecipients } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

// A started second counts as a whole one.
const nowMs = 1_700_000_000_001;
const in30DaysSeconds = 1_700_000_001 + 30 * 86_400;
/** A scheduled send lives for 125 days at most (D56). */
const in125DaysSeconds = Math.ceil(nowMs / 1_000) + 125 * 86_400;
const client = localDocumentClient();
const table = await freshTable('messages');
const dispatches = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
const parameters = parameterStore(tableOf(client, table));
const slices = sliceStore(tableOf(client, table, { nowMs: () => nowMs }));
const { signal } = new AbortController();

async function itemOf(Key: ItemKey) {
  return (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
}

/** Counts the requests of a client to the table. */
function metered(documentClient = localDocumentClient(), onCommand: (name: string) => void = () => undefined) {
  const commands: string[] = [];
  documentClient.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        commands.push(String(commandName));
        onCommand(String(commandName));
        return await next(args);
      },
    { step: 'initialize', name: 'meter' },
  );
  return { dispatches: acceptedDispatchesStore(tableOf(documentClient, table, { nowMs: () => nowMs })), commands };
}

let made = 0;
function dispatchOf(count: number, head: Partial<DispatchHead> = {}, textBytes = 40): WholeDispatch {
  made += 1;
  const dispatchId = `01JD${String(made).padStart(22, '0')}`;
  return makeDispatch(makeRecipients(count, textBytes), { dispatchId, acceptedAtMs: nowMs, ...head });
}

async function listed({ clientId, did }: DispatchHead) {
  const list = dispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  const { accepted } = await list.listAccepted({ clientId, did }, { after: undefined, limit: 100 });
  return (await list.notWithdrawn(accepted)).map(({ dispatchId, total, campaignId }) => ({
    dispatchId,
    total,
    campaignId,
  }));
}

describe('parameters', () => {
  test('are read page by page, from any recipient on', async () => {
    const dispatch = dispatchOf(1_200, {}, 300);
    const { head, recipients } = dispatch;
    await dispatches.store(dispatch, signal);
    const read: unknown[] = [];
    for (let pages = 0; read.length < recipients.length; pages += 1) {
      expect(pages).toBeLessThan(12);
      read.push(...(await parameters.read(head.dispatchId, read.length)));
    }
    expect(read).toEqual(recipients);
    for (const index of [1, 77, 624, 625, 626, 1_199]) {
      const some = await parameters.read(head.dispatchId, index);
      expect(some).toEqual(recipients.slice(index, index + some.length));
    }
  });

  test('are there until seven days after the dispatch has ended', async () => {
    const dispatch = dispatchOf(11);
    const { head } = dispatch;
    await dispatches.store(dispatch, signal);
    const first = await itemOf(parametersKey({ dispatchId: head.dispatchId, index: 0 }));
    expect(first).toMatchObject({ expiresAtSeconds: 1_700_000_001 + 8 * 86_400 });
  });

  test('that are gone are an error of that name, and so is an index behind the last', async () => {
    await expect(parameters.read('GONE', 0)).rejects.toThrow(ParametersGone);
    const dispatch = dispatchOf(11);
    const { head } = dispatch;
    await dispatches.store(dispatch, signal);
    await expect(parameters.read(head.dispatchId, 11)).rejects.toThrow(ParametersGone);
    await expect(parameters.read(head.dispatchId, 625)).rejects.toThrow(ParametersGone);
  });

  test('of the largest recipient are one item', async () => {
    const text = '한'.repeat((maxRecipientBytes - 100) / 3);
    const dispatch = { ...dispatchOf(1), recipients: [{ to: 'US.a', params: { body: [text] } }] };
    await dispatches.store(dispatch, signal);
    expect(await parameters.read(dispatch.head.dispatchId, 0)).toEqual(dispatch.recipients);
  });
});

describe('a dispatch', () => {
  test('is found as it was stored, with the plan of its messages and its entry of the backlog, and by its report once it has begun (D40)', async () => {
    const dispatch = { ...dispatchOf(2_600), repeats: [[3, 1]] as [number, number][] };
    const { head, plan, repeats, recipients } = dispatch;
    expect(await dispatches.find(head.dispatchId)).toBeUndefined();
    await dispatches.store(dispatch, signal);
    expect(await dispatches.find(head.dispatchId)).toEqual({ head, plan, repeats, waitsMs: new Map() });
    expect(await itemOf(backlogKey(head))).toEqual(newEntry(head));
    const reports = reportStore(tableOf(client, table, { nowMs: () => nowMs }));
    expect(await reports.findDescribed(head.dispatchId)).toBeUndefined();
    await dispatches.begin(head, signal);
    const report = await reports.findDescribed(head.dispatchId);
    expect(report).toMatchObject({ head, repeats });
    expect([...(report?.recipients ?? [])]).toEqual(recipients.map(({ to }, index) => [index, to]));
    expect(await itemOf(acceptedKey(head.dispatchId))).not.toHaveProperty('waitsMs');
    for (const key of [
      acceptedKey(head.dispatchId),
      recipientsKey(head.dispatchId, 0),
      recipientsKey(head.dispatchId, 2_500),
    ]) {
      expect(await itemOf(key)).toMatchObject({ expiresAtSeconds: in30DaysSeconds });
    }
  });

  test('of one person many times over, and of dropped ones, says who waits for that', async () => {
    const { head, plan } = dispatchOf(1);
    const recipients = Array.from({ length: 5_000 }, (_, index) => ({ to: index % 2 === 0 ? '549110' : '+549110' }));
    const repeats = recipients.map((_, index): [number, number] => [5_000 + index, index]);
    await dispatches.store({ head, plan, recipients, repeats }, signal);
    const found = await dispatches.find(head.dispatchId);
    expect(found?.repeats).toEqual(repeats);
    expect([found?.waitsMs.size, found?.waitsMs.get(44), found?.waitsMs.get(45)]).toEqual([4_955, undefined, 6_000]);
    expect(found?.waitsMs.get(4_999)).toBe(4_955 * 6_000);
  });

  test('is not there where its recipients could not be written', async () => {
    const faulty = localDocumentClient();
    injectFaults(faulty, (operation) =>
      operation === 'BatchWriteItemCommand' ? { kind: 'throw', error: new Error('refused') } : undefined,
    );
    const dispatch = dispatchOf(2_600);
    await expect(
      acceptedDispatchesStore(tableOf(faulty, table, { nowMs: () => nowMs })).store(dispatch, signal),
    ).rejects.toThrow('refused');
    expect(await dispatches.find(dispatch.head.dispatchId)).toBeUndefined();
  });

  test('is listed with all places of its request, however often, for 30 days', async () => {
    const { head } = dispatchOf(11, { clientId: 1002, campaignId: 7 });
    const { dispatchId } = head;
    await dispatches.list({ head, repeats: [[3, 1]] }, signal);
    expect(await listed(head)).toEqual([{ dispatchId, total: 12, campaignId: 7 }]);
    const begun = dispatchOf(11, { clientId: 1003 });
    for (const _ of [1, 2])
      expect(await beginListed(dispatches, { head: begun.head, repeats: [[3, 1]] })).toBe('begun');
    expect(await listed(begun.head)).toEqual([{ dispatchId: begun.head.dispatchId, total: 12 }]);
    const { clientId, acceptedAtMs } = begun.head;
    const pointer = { pk: dispatchesPartition(clientId), sk: dispatchSortKey(acceptedAtMs, begun.head.dispatchId) };
    expect(await itemOf(pointer)).toMatchObject({
      dispatchId: begun.head.dispatchId,
      expiresAtSeconds: in30DaysSeconds,
    });
    const state = await dispatchItemStore(tableOf(client, table)).of([begun.head.dispatchId]);
    expect(state.get(begun.head.dispatchId)).toEqual({ begun: true });
  });

  test('of a later time stands apart in the backlog, by its hour', async () => {
    const fromMs = nowMs + laterThanMs + 1;
    const dispatch = dispatchOf(11, { when: { asked: {}, fromMs } });
    await dispatches.store(dispatch, signal);
    const key = laterKey({ ...dispatch.head, notBeforeMs: fromMs });
    expect(await itemOf(key)).toMatchObject({ notBeforeMs: fromMs, enteredAtMs: nowMs, clientId: 1001 });
    expect(await itemOf(backlogKey(dispatch.head))).toBeUndefined();
  });

  test('is found where reads are as late as they may be', async () => {
    const dispatch = dispatchOf(11, { clientId: 1006 });
    const late = localDocumentClient();
    lagReads(late);
    await dispatches.store(dispatch, signal);
    const { find } = acceptedDispatchesStore(tableOf(late, table));
    expect(await find(dispatch.head.dispatchId)).toMatchObject({ head: dispatch.head });
    expect(await itemOf(acceptedKey(dispatch.head.dispatchId))).not.toHaveProperty('repeats');
  });

  test('that goes straight begins with its head and its addresses, and is listed', async () => {
    const dispatch = dispatchOf(3, { clientId: 1004 });
    const { dispatchId } = dispatch.head;
    expect(await dispatches.beginStraight(dispatch, signal)).toBe('begun');
    expect(await dispatches.beginStraight({ ...dispatch, recipients: [] })).toBe('begun');
    const item = await itemOf(dispatchKey(dispatchId));
    expect(item).toMatchObject({ head: JSON.stringify(dispatch.head), expiresAtSeconds: in30DaysSeconds });
    expect(addressesOf(item?.['to'])).toEqual(dispatch.recipients.map(({ to }) => to));
    expect(await listed(dispatch.head)).toEqual([{ dispatchId, total: 3 }]);
  });
});

describe('of beginning and withdrawal the first counts, and either may be repeated (D25)', () => {
  const claimOf = (dispatchId: string) => {
    const key = { dispatchId, slice: 0 };
    return { key, claim: { key, try: 0, owner: 'run', atMs: nowMs, size: 3 } };
  };

  test('what was taken back never begins, cannot be claimed and is in no list', async () => {
    const dispatch = dispatchOf(3, { clientId: 1005 });
    const { dispatchId } = dispatch.head;
    const { key, claim } = claimOf(dispatchId);
    for (const _ of [1, 2]) expect(await dispatches.withdraw(dispatchId, signal)).toBe('withdrawn');
    expect(await beginListed(dispatches, { head: dispatch.head, repeats: [] })).toBe('withdrawn');
    expect(await dispatches.beginStraight(dispatch)).toBe('withdrawn');
    const met = await slices.claim(claim);
    expect([met.kind, isWithdrawn(met.slice)]).toEqual(['met', true]);
    expect(await dispatches.withdraw(dispatchId)).toBe('withdrawn');
    expect(await itemOf(dispatchKey(dispatchId))).toMatchObject({
      withdrawnAtMs: nowMs,
      expiresAtSeconds: in125DaysSeconds,
    });
    expect(isWithdrawn((await slices.find(key)) ?? met.slice)).toBe(true);
    expect(await listed(dispatch.head)).toEqual([]);
  });

  test('whichever of them comes first, of many that race', async () => {
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        const { head } = dispatchOf(3);
        const { key, claim } = claimOf(head.dispatchId);
        // DynamoDB may refuse a claim that collides with the transaction; a run then retries
        // (dispatch/claims/run-slice.ts).
        const claiming = vi.waitFor(() => slices.claim(claim), { timeout: 5_000 });
        const [ended, { kind }] = await Promise.all([dispatches.withdraw(head.dispatchId), claiming]);
        expect([ended, kind]).toEqual(ended === 'begun' ? ['begun', 'claimed'] : ['withdrawn', 'met']);
        const slice = await slices.find(key);
        expect(slice !== undefined && isWithdrawn(slice)).toBe(ended === 'withdrawn');
      }),
    );
  });

  test.each([
    ['withdrawal', () => dispatches.withdraw('E', AbortSignal.abort())],
    ['store', () => dispatches.store(dispatchOf(11), AbortSignal.abort())],
    ['begin', () => dispatches.begin(dispatchOf(11).head, AbortSignal.abort())],
    ['pointer', () => dispatches.list(dispatchOf(11), AbortSignal.abort())],
    ['beginning', async () => dispatches.beginStraight(dispatchOf(1), AbortSignal.abort())],
  ])('a %s that was given up is not waited for', async (_, write) => {
    await expect(write()).rejects.toThrow('aborted');
  });

  test('a beginning that is given up once it is listed is not waited for either', async () => {
    const givenUp = new AbortController();
    const { dispatches: store, commands } = metered(localDocumentClient(), (name) => {
      if (name === 'UpdateItemCommand') givenUp.abort();
    });
    await expect(store.beginStraight(dispatchOf(1), givenUp.signal)).rejects.toThrow('aborted');
    expect(commands).toEqual(['PutItemCommand', 'UpdateItemCommand']);
  });
});
