import { DeleteCommand, GetCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, expect, test } from 'vitest';
import { tableOf } from '../../../../lib/aws/table.ts';
import { paceKey } from '../../../../lib/messages/dispatch/items.ts';
import {
  answeringSlowly,
  type KnownPace,
  slowedDown,
  unknownPace,
  withBlocked,
  withCap,
} from '../../../../lib/messages/pace/known-pace.ts';
import { itemOfPace, knownPaceStore } from '../../../../lib/messages/pace/known-pace-store.ts';
import { type FaultPlan, injectFaults } from '../../../support/faults.ts';
import { lagReads } from '../../../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../../../support/stores.ts';

const nowMs = 1_800_000_000_000;
let table: string;
let writers = 0;

beforeAll(async () => {
  table = await freshTable('messages');
});

function pacesOf(client = localDocumentClient()) {
  const newWriter = () => {
    writers += 1;
    return `W${writers}`;
  };
  return knownPaceStore(tableOf(client, table, { nowMs: () => nowMs }), { newWriter, pause: async () => {} });
}

function faulty(plan: FaultPlan = () => undefined) {
  const client = localDocumentClient();
  const { attempts } = injectFaults(client, plan);
  return { paces: pacesOf(client), commands: () => attempts.map(({ command }) => command) };
}

const slower = (pace: KnownPace) => slowedDown(pace, 80, nowMs);

test('what is known of a number is found as it was written, also a moment later by another reader', async () => {
  const { paces } = faulty();
  expect(await paces.find('new')).toEqual(unknownPace);
  const all = (pace: KnownPace) => {
    const capped = withCap(slower(pace), { perSecond: 20, untilMs: nowMs + 60_000 });
    return answeringSlowly(withBlocked(withBlocked(capped, 'b', nowMs + 9, nowMs), 'a', nowMs + 20, nowMs), nowMs);
  };
  const written = await paces.change('new', all);
  expect(written).toMatchObject({ version: 1, learned: { perSecond: 60 }, capped: { perSecond: 20 } });
  const client = localDocumentClient();
  lagReads(client);
  expect(await pacesOf(client).find('new')).toEqual(written);
});

test('the oldest person is known again, in whatever order the item is read', async () => {
  const { paces } = faulty();
  const pairs = [3, 1, 2].map((at) => ({ recipientHash: `P${at}`, untilMs: nowMs + at }));
  expect(itemOfPace({ version: 1, pairs })).toMatchObject({ pairs: { P3: nowMs + 3 } });
  await paces.change('persons', (pace) => ({ ...pace, pairs }));
  expect((await paces.find('persons')).pairs.map(({ recipientHash }) => recipientHash)).toEqual(['P1', 'P2', 'P3']);
});

test("an operator's cap and a refusal that meet are both kept (D43)", async () => {
  const capped = { perSecond: 20, untilMs: nowMs + 60_000 };
  await Promise.all([
    faulty().paces.change('met', (pace) => withCap(pace, capped)),
    faulty().paces.change('met', (pace) => withBlocked(pace, 'ana', nowMs + 6_000, nowMs)),
  ]);
  expect(await pacesOf().find('met')).toMatchObject({ version: 2, capped, pairs: [{ recipientHash: 'ana' }] });
});

test('a writer that is always too late gives up after ten writes, and says so', async () => {
  const client = localDocumentClient();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'PutItemCommand') await pacesOf().change('beaten', (pace) => ({ ...pace }));
        return await next(args);
      },
    { step: 'initialize' },
  );
  await expect(pacesOf(client).change('beaten', slower)).rejects.toThrow('under 10 tries');
  expect((await pacesOf().find('beaten')).version).toBe(10);
});

test('a number is forgotten after thirty quiet days, and begins again where TTL has removed its item', async () => {
  const client = localDocumentClient();
  await pacesOf().change('quiet', slower);
  const { Item } = await client.send(new GetCommand({ TableName: table, Key: paceKey('quiet') }));
  expect(Item).toMatchObject({ pk: 'PACE#quiet', sk: 'PACE', expiresAtSeconds: nowMs / 1_000 + 30 * 86_400 });
  await client.send(new DeleteCommand({ TableName: table, Key: paceKey('quiet') }));
  expect(await pacesOf().change('quiet', slower)).toMatchObject({ version: 1 });
});
