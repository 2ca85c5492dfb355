import { randomUUID } from 'node:crypto';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from 'vitest';
import type { RunStates } from '../../../../lib/aws/leased-run.ts';
import { tableOf } from '../../../../lib/aws/table.ts';
import { senderKey } from '../../../../lib/messages/dispatch/items.ts';
import type { SenderState } from '../../../../lib/messages/sender/sender-ports.ts';
import { senderStateStore } from '../../../../lib/messages/sender/sender-state-store.ts';
import { MemoryBacklog } from '../../../support/messages-table/memory-backlog.ts';
import { nothingFails } from '../../../support/messages-table/memory-table.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** The lease of a number's sender, and what one run tells the next: the store and the model of the worlds alike. */

const nowMs = 1_800_000_000_000;
const lease = { owner: 'a/lease-1', untilMs: nowMs + 25_000, messages: [] };
let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
});

type Of = (part: number) => RunStates<SenderState>;

function stored(client = localDocumentClient(), phoneNumberId: string = randomUUID()): Of {
  const store = senderStateStore(tableOf(client, table, { nowMs: () => nowMs }), { pause: async () => undefined });
  return (part) => store({ phoneNumberId, part, of: 8 });
}
const modelled = (backlog = new MemoryBacklog()): Of => {
  return (part) => backlog.statesOf(nothingFails, `number ${part}`);
};
const take = (owner: string) => (before: SenderState) => ({ ...before, lease: { ...lease, owner } });
const read = async (states: RunStates<SenderState>) => await states.change(() => undefined);

describe.each([
  { name: 'in the table', open: () => stored() },
  { name: 'in the model', open: () => modelled() },
])('$name', ({ open }) => {
  test('each part has a state of its own, which begins with nothing', async () => {
    const of = open();
    expect(await read(of(0))).toEqual({ state: { wakeAtMs: 0 }, version: 0, changed: false });
    const state = { wakeAtMs: nowMs, lease, service: { 1001: 20.5, 1002: 0 }, turnsUntilMs: nowMs + 5.5, lost: 2 };
    expect(await of(0).change(() => state)).toEqual({ state, version: 1, changed: true });
    expect(await read(of(0))).toEqual({ state, version: 1, changed: false });
    expect(await read(of(1))).toEqual({ state: { wakeAtMs: 0 }, version: 0, changed: false });
  });

  test('of two runs that have seen the same, one has its rule asked again', async () => {
    const of = open();
    const seen = await read(of(0));
    expect(await of(0).change(take('a'), seen)).toMatchObject({ changed: true, version: 1 });
    const isFree = (before: SenderState) => (before.lease === undefined ? take('b')(before) : undefined);
    expect(await of(0).change(isFree, seen)).toMatchObject({ changed: false, state: { lease: { owner: 'a' } } });
  });
});

test('the item is removed by TTL once nothing of it is of use', async () => {
  const of = stored(undefined, 'ttl');
  await of(3).change(take('a'));
  const Key = senderKey({ phoneNumberId: 'ttl', part: 3 });
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key }));
  expect(Item).toMatchObject({ pk: 'SENDER#ttl#3', expiresAtSeconds: nowMs / 1_000 + 86_400 });
});

test('writers that meet again and again pause between their tries, and each change stays', async () => {
  const pauses: number[] = [];
  const pause = async (tries: number) => void pauses.push(tries);
  const access = tableOf(localDocumentClient(), table, { nowMs: () => nowMs });
  const of = senderStateStore(access, { pause })({ phoneNumberId: 'crowd', part: 0, of: 1 });
  const counts = (before: SenderState) => ({ ...before, lost: (before.lost ?? 0) + 1 });
  await Promise.all(Array.from({ length: 6 }, () => of.change(counts)));
  expect((await read(of)).state.lost).toBe(6);
  expect(pauses).toContain(1);
});

test('a state of another form is no state', async () => {
  const of = stored();
  await of(0).change(() => ({ wakeAtMs: 'soon' }) as unknown as SenderState);
  await expect(read(of(0))).rejects.toThrow('Expected number');
});
