import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import {
  type AcceptedDispatches,
  acceptedDispatchesStore,
} from '../../../../lib/messages/accept/accepted-dispatches-store.ts';
import type { DispatchHead } from '../../../../lib/messages/dispatch/head.ts';
import { dispatchKey } from '../../../../lib/messages/dispatch/items.ts';
import type { DispatchRounds } from '../../../../lib/messages/fan-out/dispatch-rounds.ts';
import { dispatchRoundsStore } from '../../../../lib/messages/fan-out/dispatch-rounds-store.ts';
import type { LostRoundsPorts, ScheduledDispatch } from '../../../../lib/messages/fan-out/lost-rounds.ts';
import { scheduledDispatchesStore } from '../../../../lib/messages/fan-out/scheduled-dispatches-store.ts';
import { makeDispatchHead } from '../../../support/made-dispatches.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

/** The list holds the scheduled dispatches that have begun (D56, R54). */

const nowMs = 1_800_000_000_000;
const client = localDocumentClient();
let accepted: AcceptedDispatches;
let rounds: DispatchRounds;
let scheduled: LostRoundsPorts['scheduled'];
let table: string;
beforeAll(async () => {
  table = await freshTable('messages');
  const unused = () => Promise.reject(new Error('not asked here'));
  accepted = acceptedDispatchesStore(tableOf(client, table, { nowMs: () => nowMs }));
  rounds = dispatchRoundsStore(tableOf(client, table), { find: unused, recipientsFrom: unused, begin: accepted.begin });
  scheduled = scheduledDispatchesStore(tableOf(client, table));
});

const when = { asked: { send_at: '2027-01-15T09:00:00Z' }, fromMs: nowMs + 1_000 };
const begin = (head: Partial<DispatchHead>) => rounds.begin({ ...storedDispatch, head: makeDispatchHead(head) });
const storedDispatch = {
  plan: { templateName: '', languageCode: '', buttons: [], cards: [] },
  repeats: [],
  waitsMs: new Map(),
};

async function listed(): Promise<ScheduledDispatch[]> {
  const dispatches: ScheduledDispatch[] = [];
  for await (const some of scheduled.all())
    for (const dispatch of some) if ('head' in dispatch) dispatches.push(dispatch);
  return dispatches.toSorted((one, other) => (one.head.dispatchId < other.head.dispatchId ? -1 : 1));
}

test('a dispatch with a time of its own is listed from its beginning until it is left; others never', async () => {
  await begin({ dispatchId: 'NONE' });
  await begin({ dispatchId: 'SCHEDULED', when, correlationId: 'C' });
  await begin({ dispatchId: 'SCHEDULED', when, correlationId: 'C' });
  await accepted.withdraw('TAKEN');
  expect(await begin({ dispatchId: 'TAKEN', when })).toBe('withdrawn');
  expect(await listed()).toMatchObject([{ head: { dispatchId: 'SCHEDULED', clientId: 1001, correlationId: 'C' } }]);

  const run = { dispatchId: 'SCHEDULED', round: 0, owner: 'a' };
  await rounds.take(run, nowMs);
  expect((await listed())[0]?.round).toEqual({ round: 0, lease: { owner: 'a', untilMs: nowMs + 45_000 } });
  await rounds.handOver(run, { queued: 10, ofStretches: [10, 0] }, { round: 1, dueMs: nowMs + 900_000 });
  expect((await listed())[0]?.round).toEqual({ round: 1, dueMs: nowMs + 900_000 });
  const next = await rounds.take({ ...run, round: 1 }, nowMs);
  expect(next).toMatchObject({ kind: 'taken', progress: { queued: 10, ofStretches: [10, 0] } });

  await rounds.leaveSchedule('SCHEDULED');
  expect(await listed()).toEqual([]);
});

test('dispatches of every partition are found, and one is left by who finds it over', async () => {
  const dispatchIds = Array.from({ length: 30 }, (_, at) => `M${String(at).padStart(4, '0')}`);
  await Promise.all(dispatchIds.map((dispatchId) => begin({ dispatchId, when })));
  expect((await listed()).map(({ head }) => head.dispatchId)).toEqual(dispatchIds);
  await scheduled.leave('M0007');
  expect(await listed()).toHaveLength(29);
});

test('a late announcement of an ending takes back no wave from the same place', async () => {
  await begin({ dispatchId: 'LATE', when });
  const run = { dispatchId: 'LATE', round: 0, owner: 'a' };
  await rounds.take(run, nowMs);
  const ended = { queued: 10, ofStretches: [10, 0] };
  const wave = { from: 10, until: 20, position: 0 };
  expect(await rounds.announce(run, ended, nowMs)).toEqual({ begun: true });
  expect(await rounds.announce(run, { ...ended, wave }, nowMs)).toEqual({ begun: true });
  expect(await rounds.announce(run, ended, nowMs)).toBeUndefined();
  expect(await rounds.take(run, nowMs)).toMatchObject({ progress: { ...ended, wave } });
  expect(await rounds.announce(run, { queued: 20, ofStretches: [10, 10] }, nowMs)).toEqual({ begun: true });
});

test.each([
  ['head', '{'],
  ['round', { round: 'x' }],
])('a dispatch whose %s cannot be read is told as such, and the others are listed', async (attribute, value) => {
  const others = await listed();
  const dispatchId = `BROKEN-${attribute}`;
  await begin({ dispatchId, when });
  await client.send(
    new UpdateCommand({
      ...{ TableName: table, Key: dispatchKey(dispatchId), UpdateExpression: 'SET #broken = :value' },
      ...{ ExpressionAttributeNames: { '#broken': attribute }, ExpressionAttributeValues: { ':value': value } },
    }),
  );
  const unreadable: unknown[] = [];
  for await (const dispatches of scheduled.all())
    unreadable.push(...dispatches.filter((dispatch) => 'error' in dispatch));
  expect(unreadable).toMatchObject([{ dispatchId }]);
  expect(await listed()).toEqual(others);
  await scheduled.leave(dispatchId);
});
