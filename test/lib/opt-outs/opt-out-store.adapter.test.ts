import { randomBytes } from 'node:crypto';
import { GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { beforeEach, describe, expect, test } from 'vitest';
import type { OptOutChange } from '../../../lib/opt-outs/entry.ts';
import { optOutLook, optOutWriter } from '../../../lib/opt-outs/opt-out-store.ts';
import { mostNames } from '../../../lib/opt-outs/person.ts';
import { personNames } from '../../../lib/opt-outs/person-name.ts';
import {
  type OptOutPorts,
  recordOptOut as recorded,
  recordIdChange,
  type ToRecord,
} from '../../../lib/opt-outs/record-opt-out.ts';
import type { Scope } from '../../../lib/opt-outs/scope.ts';
import { type DynamoFault, injectFaults } from '../../support/dynamo-faults.ts';
import { lagReads } from '../../support/lagging-reads.ts';
import { freshTable, localDocumentClient } from '../../support/stores.ts';

const atMs = 1_800_000_000_000;
const client: Scope = { kind: 'client', clientId: 7 };
const number: Scope = { kind: 'number', phoneNumberId: '31', wabaId: '11' };
const sender = { clientId: 7, phoneNumberId: '31', wabaId: '11' };
const [waId, userId] = ['5491155550001', 'US.13491208655302741918'];
const nameOf = personNames(randomBytes(32));
const stopped: OptOutChange = { says: 'stopped', atMs, source: 'reply' };
let table: string;

const recordWord = (word: Omit<ToRecord, 'listedFor'>, ports: OptOutPorts) =>
  recorded({ ...word, listedFor: 7 }, ports);

beforeEach(async () => {
  table = await freshTable('messages');
});

function access(faultOf: (operation: string, attempt: number) => DynamoFault | undefined = () => undefined) {
  const documentClient = localDocumentClient();
  lagReads(documentClient);
  const attempts = injectFaults(documentClient, faultOf);
  return { attempts, client: documentClient, name: table, pause: async () => undefined };
}

const writer = (...faults: Parameters<typeof access>) => optOutWriter(access(...faults), nameOf);
const look = (...faults: Parameters<typeof access>) => optOutLook(access(...faults), async () => nameOf);
const stopsOf = async (...recipients: string[]) => [...(await look().stoppedAmong(sender, recipients)).entries()];

test('a stop is found under both names, by its scope, and there is a mark (D55)', async () => {
  expect(await look().anyFor(sender)).toBe(false);
  await recordWord({ scope: client, recipients: [waId, userId], word: stopped }, writer());
  expect(await look().anyFor(sender)).toBe(true);
  expect(await look().anyFor({ ...sender, wabaId: '12' })).toBe(true);
  expect(await look().anyFor({ ...sender, clientId: 8 })).toBe(false);
  expect(await stopsOf(waId, '5491155550002', userId)).toEqual([
    [waId, stopped],
    [userId, stopped],
  ]);
  expect(await look().stoppedAmong({ ...sender, clientId: 8 }, [waId])).toEqual(new Map());
});

test("a number's stop marks its WABA", async () => {
  await recordWord({ scope: number, recipients: [waId], word: { ...stopped, source: 'platform' } }, writer());
  expect(await look().anyFor({ ...sender, clientId: 8 })).toBe(true);
  expect(await look().anyFor({ ...sender, wabaId: '12' })).toBe(false);
});

test('what is stored names no person but in the list, and has no time to live (D60)', async () => {
  await recordWord({ scope: client, recipients: [waId, userId], word: stopped }, writer());
  const { Items = [] } = await localDocumentClient().send(new ScanCommand({ TableName: table }));
  expect(Items).toHaveLength(5);
  const spelled = (item: object) => [waId, userId].some((recipient) => JSON.stringify(item).includes(recipient));
  expect(
    Items.filter(spelled)
      .map(({ pk, sk, recipient }) => [pk, sk, recipient])
      .sort(),
  ).toEqual([waId, userId].map((recipient) => ['OPTOUTS#client:7', `PERSON#${nameOf(recipient)}`, recipient]).sort());
  expect(Items.filter((item) => 'expiresAtSeconds' in item)).toEqual([]);
  const Key = { pk: `PERSON#${nameOf(waId)}`, sk: 'OPTOUTS' };
  const { Item } = await localDocumentClient().send(new GetCommand({ TableName: table, Key }));
  expect(Item).toMatchObject({ entries: { 'client:7': { said: stopped } }, names: [userId, waId].map(nameOf).sort() });
});

test('the API starts what it has stopped, and is refused what the person has', async () => {
  const told = (says: OptOutChange['says'], laterMs: number): OptOutChange => ({
    says,
    atMs: atMs + laterMs,
    source: 'api',
  });
  const record = (word: OptOutChange) => recordWord({ scope: client, recipients: [waId], word }, writer());
  await record(told('stopped', 0));
  expect((await record(told('started', 1))).taken).toBe(true);
  expect(await stopsOf(waId)).toEqual([]);
  await record(stopped);
  expect((await record(told('started', 2))).taken).toBe(false);
  expect(await stopsOf(waId)).toEqual([[waId, stopped]]);
});

test('what was said until a change of ids counts under the new ones, also when it comes late; nothing later does', async () => {
  const change = { old: [waId, userId], recipients: ['5491155550009', 'US.9'], atMs: atMs + 1_000 };
  await recordWord({ scope: number, recipients: [waId, userId], word: { ...stopped, source: 'platform' } }, writer());
  await recordIdChange(change, writer());
  await recordWord(
    { scope: client, recipients: [waId], word: { ...stopped, says: 'started', atMs: atMs + 2_000 } },
    writer(),
  );
  await recordWord({ scope: client, recipients: [waId], word: stopped }, writer());
  expect(await stopsOf('5491155550009', 'US.9')).toEqual([
    ['5491155550009', stopped],
    ['US.9', stopped],
  ]);
  expect((await look().stoppedAmong({ ...sender, clientId: 8 }, ['US.9'])).get('US.9')?.source).toBe('platform');
});

test.each(['after it is told', 'before it is told'])(
  'a stop of the client that is said after a change of ids, %s, counts under the new ones; its start does not (D55)',
  async (when) => {
    // A message to the old user id goes to the new id.
    const change = { old: [userId], recipients: ['US.9'], atMs: atMs - 1_000 };
    const say = async (says: 'started' | 'stopped', laterMs: number) => {
      const word = { ...stopped, says, source: 'api', atMs: atMs + laterMs } as const;
      await recordWord({ scope: client, recipients: [userId], word }, writer());
    };
    if (when === 'after it is told') await recordIdChange(change, writer());
    await say('stopped', 0);
    if (when === 'before it is told') await recordIdChange(change, writer());
    await say('started', 1);
    expect((await stopsOf(userId, 'US.9')).map(([recipient]) => recipient)).toEqual(['US.9']);
  },
);

test('writers side by side lose no word, though replies are lost', async () => {
  const words = Array.from({ length: 6 }, (_, at) => at + 1);
  const lossy = (operation: string, attempt: number): DynamoFault | undefined =>
    operation === 'PutItemCommand' && attempt % 3 === 1 ? { kind: 'lose_reply' } : undefined;
  await Promise.all(
    words.map((clientId) =>
      recordWord({ scope: { kind: 'client', clientId }, recipients: [waId, userId], word: stopped }, writer(lossy)),
    ),
  );
  for (const clientId of words) {
    const stops = await look().stoppedAmong({ ...sender, clientId }, [waId, userId]);
    expect([...stops.keys()]).toEqual([waId, userId]);
  }
});

describe('a slice', () => {
  const ten = Array.from({ length: 10 }, (_, at) => `54911555500${at + 10}`);

  test('is one strongly consistent request; what is left unprocessed is asked for again', async () => {
    const last = ten.at(-1) as string;
    await recordWord({ scope: client, recipients: [last], word: stopped }, writer());
    const whole = access();
    expect([...(await optOutLook(whole, async () => nameOf).stoppedAmong(sender, ten)).keys()]).toEqual([last]);
    expect([...whole.attempts]).toEqual([['BatchGetItemCommand', 1]]);
    const parts = access((_, attempt) => (attempt === 1 ? { kind: 'unprocessed', keep: 0 } : undefined));
    expect([...(await optOutLook(parts, async () => nameOf).stoppedAmong(sender, ten)).keys()]).toEqual([last]);
  });

  test('with one recipient twice is read as well', async () => {
    await recordWord({ scope: client, recipients: [waId], word: stopped }, writer());
    expect(await stopsOf(waId, waId)).toEqual([[waId, stopped]]);
  });

  test('throws on an item that it cannot read: no such person is free', async () => {
    const Item = { pk: `PERSON#${nameOf(waId)}`, sk: 'OPTOUTS', version: 1, writer: 'w' };
    await localDocumentClient().send(new PutCommand({ TableName: table, Item }));
    await expect(look().stoppedAmong(sender, [waId])).rejects.toThrow();
  });
});

test('a number with more user ids than are kept is still written, and found', async () => {
  const userIds = Array.from({ length: mostNames + 2 }, (_, at) => `US.${at}`);
  for (const each of userIds) await recordWord({ scope: client, recipients: [each, waId], word: stopped }, writer());
  for (const some of [userIds.slice(0, 7), userIds.slice(7)]) {
    expect((await stopsOf(...some, waId)).map(([recipient]) => recipient)).toEqual([...some, waId]);
  }
});

test('a mark is written once by a process', async () => {
  const counted = access();
  const ports = optOutWriter(counted, nameOf);
  await ports.mark(client);
  await ports.mark(client);
  await ports.mark(number);
  expect(counted.attempts.get('PutItemCommand')).toBe(2);
});

test('a mark that could not be written is written with the next word of the same process (D55)', async () => {
  const error = Object.assign(new Error('refused'), { name: 'ValidationException' });
  const ports = writer((operation, attempt) =>
    operation === 'PutItemCommand' && attempt === 1 ? { kind: 'throw', error } : undefined,
  );
  const record = () => recordWord({ scope: client, recipients: [waId], word: stopped }, ports);
  await expect(record()).rejects.toThrow();
  await record();
  expect(await look().anyFor(sender)).toBe(true);
});

test('a name depends on its key, and a short key is refused', () => {
  expect(nameOf(waId)).toMatch(/^[\w-]{43}$/);
  expect(personNames(randomBytes(32))(waId)).not.toBe(nameOf(waId));
  expect(() => personNames(randomBytes(31))).toThrow('shorter');
});
