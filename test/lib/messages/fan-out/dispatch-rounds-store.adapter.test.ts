import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { dispatchItemStore } from '../../../../lib/messages/dispatch/item-store.ts';
import { dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import type { DispatchRounds } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { dispatchRoundsStore } from '../../../../lib/messages/fan-out/dispatch-rounds-store.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
const client = localDocumentClient();
let table: string;
let rounds: DispatchRounds;
beforeAll(async () => {
  table = await freshTable('messages');
  const unused = () => Promise.reject(new Error('not asked here'));
  const stored = { find: unused, recipientsFrom: unused, list: unused };
  rounds = dispatchRoundsStore(tableOf(client, table), stored);
});

async function begun(dispatchId: string): Promise<void> {
  const head = JSON.stringify(makeDispatchHead({ dispatchId }));
  await client.send(new PutCommand({ TableName: table, Item: { ...dispatchKey(dispatchId), head } }));
}

const run = (dispatchId: string, round: number, owner: string) => ({ dispatchId, round, owner });
const wave = { until: 60, position: 1_200 };

test('a round belongs to one run until it hands over or its lease ends', async () => {
  await begun('A');
  const first = run('A', 0, 'a');
  expect(await rounds.take(first, nowMs)).toEqual({ kind: 'taken', progress: { queued: 0 }, state: { begun: true } });
  expect(await rounds.take(first, nowMs)).toMatchObject({ kind: 'taken' });
  expect(await rounds.take(run('A', 0, 'b'), nowMs + 44_999)).toEqual({ kind: 'held', untilMs: nowMs + 45_000 });
  expect(await rounds.take(run('A', 1, 'b'), nowMs + 44_999)).toEqual({ kind: 'held', untilMs: nowMs + 45_000 });
  expect(await rounds.announce(first, { queued: 30, wave }, nowMs + 44_999)).toEqual({ begun: true });
  expect(await rounds.take(run('A', 0, 'b'), nowMs + 45_000)).toMatchObject({ kind: 'held' });
  const taken = { kind: 'taken', progress: { queued: 30, wave }, state: { begun: true } };
  expect(await rounds.take(run('A', 0, 'b'), nowMs + 89_999)).toEqual(taken);
  const late = [
    await rounds.announce(first, { queued: 60 }, nowMs),
    await rounds.handOver(first, { queued: 60 }, { round: 1 }),
  ];
  expect(late).toEqual([undefined, false]);
  expect(await rounds.handOver(run('A', 0, 'b'), { queued: 60 }, { round: 1 })).toBe(true);
  expect(await rounds.take(first, nowMs)).toEqual({ kind: 'over' });
  expect(await rounds.take(run('A', 1, 'c'), nowMs)).toEqual({ ...taken, progress: { queued: 60 } });
});

test('an announcement that lands again after the next one changes nothing: its wave would be queued once more', async () => {
  await begun('D');
  const mine = run('D', 0, 'a');
  await rounds.take(mine, nowMs);
  const next = { queued: 60, wave: { until: 90, position: 1_260 } };
  for (const progress of [{ queued: 30, wave }, next])
    expect(await rounds.announce(mine, progress, nowMs)).toEqual({ begun: true });
  for (const late of [{ queued: 30, wave }, { queued: 30 }, { queued: 60 }]) {
    expect(await rounds.announce(mine, late, nowMs)).toBeUndefined();
  }
  expect(await rounds.take(mine, nowMs)).toEqual({ kind: 'taken', progress: next, state: { begun: true } });
});

test('a dispatch whose item is gone is over, and stays gone (TTL)', async () => {
  const gone = run('B', 3, 'a');
  expect(await rounds.take(gone, nowMs)).toEqual({ kind: 'over' });
  expect(await rounds.announce(gone, { queued: 30 }, nowMs)).toBeUndefined();
  expect(await rounds.handOver(gone, { queued: 30 }, { round: 4 })).toBe(false);
  expect(await rounds.take(gone, nowMs)).toEqual({ kind: 'over' });
});

test('a stop that comes while a run works is told to it with each wave and each round (D46, D53)', async () => {
  await begun('C');
  const mine = run('C', 0, 'a');
  const stop = { state: 'failed', code: 'cancelled', atMs: nowMs } as const;
  await rounds.take(mine, nowMs);
  await dispatchItemStore(tableOf(client, table)).stop({ dispatchId: 'C', acceptedAtMs: nowMs }, stop);
  expect(await rounds.announce(mine, { queued: 0, wave }, nowMs)).toEqual({ begun: true, stop });
  expect(await rounds.take(mine, nowMs)).toEqual({
    kind: 'taken',
    progress: { queued: 0, wave },
    state: { begun: true, stop },
  });
});
